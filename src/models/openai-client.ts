import OpenAI from 'openai';
import { createWatchedFetch, type AnswerBounds } from './watched-fetch.js';

interface ClientOptions extends AnswerBounds {
  /** Set by the operator, so the guard against private targets does not apply. */
  baseUrl: string;
  apiKey: string | undefined;
}

/** A client for an OpenAI-compatible endpoint. It takes nothing from the environment, and the caller retries. */
export function createOpenAiClient({ baseUrl, apiKey, ...watched }: ClientOptions): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    // The client reads undefined options from the environment.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: createWatchedFetch(watched),
    ...(apiKey === undefined && { defaultHeaders: { Authorization: null } }),
  });
}
