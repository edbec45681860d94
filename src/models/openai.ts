import OpenAI, { APIConnectionError, APIError } from 'openai';
import { Stream } from 'openai/streaming';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';
import { isPassingStatus, retryHintMs } from '../outbound/retry-hints.js';
import { gatherAnswer, unusable } from './openai-answer.js';
import { bodyOf, streamings, type Streaming } from './openai-request.js';
import type { ChatCompletion, ChatModel, ChatRequest } from './port.js';
import { createWatchedFetch, isEventStream } from './watched-fetch.js';

export interface OpenAiOptions {
  /** The operator's own choice, so the guard against private targets does not apply to it. */
  baseUrl: string;
  apiKey: string | undefined;
  /** For a whole answer; below the time limit of the step that asks. */
  timeoutMs?: number;
  /** How long nothing of an answer may come, before its first word and between two. */
  idleMs?: number;
}

const maxBytes = 8 * 1024 * 1024;
const maxEventBytes = 1024 * 1024;

/** A model behind an OpenAI-compatible endpoint. Retries are the caller's. */
export function createOpenAiModel({ baseUrl, apiKey, timeoutMs = 9 * 60_000, idleMs = 2 * 60_000 }: OpenAiOptions): ChatModel {
  const client = new OpenAI({
    baseURL: baseUrl,
    // What is left undefined here, the client would take from the environment.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    timeout: timeoutMs,
    fetch: createWatchedFetch({ idleMs, maxBytes, maxEventBytes }),
    ...(apiKey === undefined && { defaultHeaders: { Authorization: null } }),
  });
  const taken = new Map<string, Streaming>();
  return {
    complete: (request) => withDeadline({ timeoutMs, signal: request.signal }, (signal) => ask(client, taken, { ...request, signal })),
  };
}

/** `taken` remembers for each model how much of streaming the endpoint was found to take. */
async function ask(client: OpenAI, taken: Map<string, Streaming>, request: ChatRequest): Promise<ChatCompletion> {
  const { model, signal } = request;
  for (let streaming: Streaming | undefined = taken.get(model) ?? streamings[0]; ; ) {
    try {
      return await exchange(client, request, streaming);
    } catch (error) {
      signal.throwIfAborted();
      const less = lessStreaming(error, streaming);
      if (less === undefined) throw failureOf(error);
      taken.set(model, less);
      streaming = less;
    }
  }
}

async function exchange(client: OpenAI, request: ChatRequest, streaming: Streaming): Promise<ChatCompletion> {
  const { signal, idempotencyKey } = request;
  const answer = gatherAnswer(request);
  const response = await client.chat.completions
    .create(bodyOf(request, streaming), { signal, headers: { 'Idempotency-Key': encodeURI(idempotencyKey) } })
    .asResponse();
  // An endpoint that does not stream answers the same request with the whole as JSON.
  if (isEventStream(response)) {
    for await (const chunk of Stream.fromSSEResponse<unknown>(response, new AbortController(), client)) answer.add(chunk);
    signal.throwIfAborted();
  } else answer.add(await response.json());
  return answer.completion();
}

/** What to ask for instead, where the endpoint refused the way of streaming that was asked for. */
function lessStreaming(error: unknown, streaming: Streaming): Streaming | undefined {
  if (!isApiError(error) || (error.status !== 400 && error.status !== 422)) return undefined;
  const refusal = `${error.message} ${JSON.stringify(error.error ?? '')}`;
  if (streaming === 'with usage' && /stream_options|include_usage/.test(refusal)) return 'plain';
  return streaming !== 'none' && /\bstream(ing|ed|s)?\b/i.test(refusal) ? 'none' : undefined;
}

function failureOf(error: unknown): OutboundError {
  if (isOutboundError(error)) return error;
  if (error instanceof APIConnectionError) {
    return isOutboundError(error.cause) ? error.cause : new OutboundError('model_unavailable', 'the model endpoint could not be reached');
  }
  if (isApiError(error)) return error.status === undefined ? failureWithin(error) : statusFailure(error.status, error.headers);
  return unusable();
}

/** `instanceof` alone leaves the class's type parameters open. */
function isApiError(error: unknown): error is APIError {
  return error instanceof APIError;
}

/** An error that came as a chunk of the stream, after the status 200: its code may be a status. */
function failureWithin({ code, headers }: APIError): OutboundError {
  const status = Number(code);
  if (Number.isInteger(status) && status >= 400 && status < 600) return statusFailure(status, headers);
  return new OutboundError('model_unavailable', 'the model endpoint reported an error within its answer');
}

function statusFailure(status: number, headers: Headers | undefined): OutboundError {
  const message = `the model endpoint answered with status ${status}`;
  if (!isPassingStatus(status)) return new OutboundError('model_refused', message, { status });
  return new OutboundError('model_unavailable', message, { status, retryAfterMs: headers && retryHintMs(headers, Date.now()) });
}
