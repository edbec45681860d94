import OpenAI from 'openai';
import { createWatchedFetch, type AnswerBounds } from './watched-fetch.js';

interface ClientOptions extends AnswerBounds {
  /** The operator sets this URL, so the guard against private targets does not apply. */
  baseUrl: string;
  apiKey: string | undefined;
}

/**
 * Creates a client for an OpenAI-compatible endpoint. The client reads nothing from the environment, and the caller
 * retries.
 */
export function createOpenAiClient({ baseUrl, apiKey, ...watched }: ClientOptions): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    // Set every option, because the client reads undefined ones from the environment.
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
