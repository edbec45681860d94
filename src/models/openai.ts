import { APIConnectionError, APIError, type OpenAI } from 'openai';
import { Stream } from 'openai/streaming';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';
import { isTransientStatus, retryHintMs } from '../outbound/retry-hints.js';
import { collectAnswer, unusableAnswer } from './openai-answer.js';
import { bodyOf, streamings, type Streaming } from './openai-request.js';
import { createOpenAiClient } from './openai-client.js';
import type { ChatCompletion, ChatModel, ChatRequest } from './port.js';
import { isEventStream } from './watched-fetch.js';

interface OpenAiOptions {
  /** The operator sets this URL, so the guard against private targets does not apply. */
  baseUrl: string;
  apiKey: string | undefined;
  /** The limit for the complete response. Must be below the time limit of the step. */
  timeoutMs?: number;
  /** The maximum time without data, before the first chunk and between chunks. */
  idleMs?: number;
}

const maxBytes = 8 * 1024 * 1024;
const maxEventBytes = 1024 * 1024;

/** Creates a model for an OpenAI-compatible endpoint. The caller retries. */
export function createOpenAiModel({
  baseUrl,
  apiKey,
  timeoutMs = 9 * 60_000,
  idleMs = 2 * 60_000,
}: OpenAiOptions): ChatModel {
  const client = createOpenAiClient({ baseUrl, apiKey, idleMs, maxBytes, maxEventBytes });
  const supported = new Map<string, Streaming>();
  return {
    complete: (request) =>
      withDeadline({ timeoutMs, signal: request.signal }, (signal) => ask(client, supported, { ...request, signal })),
  };
}

/** Sends a request. `supported` caches which kind of streaming the endpoint supports for each model. */
async function ask(client: OpenAI, supported: Map<string, Streaming>, request: ChatRequest): Promise<ChatCompletion> {
  const { model, signal } = request;
  for (let streaming: Streaming | undefined = supported.get(model) ?? streamings[0]; ;) {
    try {
      return await exchange(client, request, streaming);
    } catch (error) {
      signal.throwIfAborted();
      const reduced = reducedStreaming(error, streaming);
      if (reduced === undefined) throw failureOf(error);
      supported.set(model, reduced);
      streaming = reduced;
    }
  }
}

async function exchange(client: OpenAI, request: ChatRequest, streaming: Streaming): Promise<ChatCompletion> {
  const { signal, idempotencyKey } = request;
  const answer = collectAnswer(request);
  const response = await client.chat.completions
    .create(bodyOf(request, streaming), { signal, headers: { 'Idempotency-Key': encodeURI(idempotencyKey) } })
    .asResponse();
  // An endpoint that does not stream sends the complete response as JSON.
  if (isEventStream(response)) {
    for await (const chunk of Stream.fromSSEResponse<unknown>(response, new AbortController(), client))
      answer.add(chunk);
    signal.throwIfAborted();
  } else answer.add(await response.json());
  return answer.completion();
}

/** Returns the next kind of streaming to try if the endpoint refused this one. */
function reducedStreaming(error: unknown, streaming: Streaming): Streaming | undefined {
  if (!isApiError(error) || (error.status !== 400 && error.status !== 422)) return undefined;
  const refusal = `${error.message} ${JSON.stringify(error.error ?? '')}`;
  if (streaming === 'with usage' && /stream_options|include_usage/.test(refusal)) return 'plain';
  return streaming !== 'none' && /\bstream(ing|ed|s)?\b/i.test(refusal) ? 'none' : undefined;
}

/** Converts the failure of a request to an OpenAI-compatible endpoint to an error for the caller. */
export function failureOf(error: unknown): OutboundError {
  if (isOutboundError(error)) return error;
  if (error instanceof APIConnectionError) {
    return isOutboundError(error.cause)
      ? error.cause
      : new OutboundError('model_unavailable', 'the model endpoint could not be reached');
  }
  if (isApiError(error))
    return error.status === undefined ? failureInStream(error) : statusFailure(error.status, error.headers);
  return unusableAnswer();
}

/** `instanceof` alone does not narrow the type parameters of the class. */
function isApiError(error: unknown): error is APIError {
  return error instanceof APIError;
}

/** Converts an error inside a stream, after status 200. Its code may be an HTTP status. */
function failureInStream({ code, headers }: APIError): OutboundError {
  const status = Number(code);
  if (Number.isInteger(status) && status >= 400 && status < 600) return statusFailure(status, headers);
  return new OutboundError('model_unavailable', 'the model endpoint reported an error within its answer');
}

function statusFailure(status: number, headers: Headers | undefined): OutboundError {
  const message = `the model endpoint answered with status ${status}`;
  if (!isTransientStatus(status)) return new OutboundError('model_refused', message, { status });
  return new OutboundError('model_unavailable', message, {
    status,
    retryAfterMs: headers && retryHintMs(headers, Date.now()),
  });
}
