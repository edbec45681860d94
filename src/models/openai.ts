import OpenAI, { APIConnectionError, APIError } from 'openai';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';
import { isPassingStatus, retryAfterMs } from '../outbound/retry-hints.js';
import type { ChatCompletion, ChatModel, ChatRequest } from './port.js';

export interface OpenAiOptions {
  /** The operator's own choice, so the guard against private targets does not apply to it. */
  baseUrl: string;
  apiKey: string | undefined;
  /** For a whole answer; below the time limit of the step that asks. */
  timeoutMs?: number;
}

/** A model behind an OpenAI-compatible endpoint. Retries are the caller's. */
export function createOpenAiModel({ baseUrl, apiKey, timeoutMs = 5 * 60_000 }: OpenAiOptions): ChatModel {
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
    ...(apiKey === undefined && { defaultHeaders: { Authorization: null } }),
  });
  return {
    complete: (request) => withDeadline({ timeoutMs, signal: request.signal }, (signal) => ask(client, { ...request, signal })),
  };
}

async function ask(client: OpenAI, request: ChatRequest): Promise<ChatCompletion> {
  const { model, temperature, maxTokens, messages, signal, idempotencyKey } = request;
  try {
    const completion = await client.chat.completions.create(
      // `max_tokens`, since many compatible endpoints do not know its successor.
      { model, temperature, messages, ...(maxTokens > 0 && { max_tokens: maxTokens }) },
      { signal, headers: { 'Idempotency-Key': encodeURI(idempotencyKey) } },
    );
    return read(completion, model);
  } catch (error) {
    if (signal.aborted || isOutboundError(error)) throw error;
    throw failureOf(error);
  }
}

/** The endpoint's answer is whatever JSON or text it sent, whatever the client's types say. */
function read(completion: Partial<OpenAI.ChatCompletion> | string, asked: string): ChatCompletion {
  if (typeof completion !== 'object' || completion === null) throw unusable();
  const { choices, model, usage } = completion;
  const message = Array.isArray(choices) ? choices[0]?.message : undefined;
  if (typeof message?.refusal === 'string' && message.refusal !== '') {
    throw new OutboundError('model_refused', 'the model refused to answer');
  }
  if (typeof message?.content !== 'string' || message.content.trim() === '') throw unusable();
  return {
    model: typeof model === 'string' && model !== '' ? model : asked,
    content: message.content,
    usage: { input_tokens: count(usage?.prompt_tokens), output_tokens: count(usage?.completion_tokens) },
  };
}

function count(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) ? tokens : 0;
}

function failureOf(error: unknown): OutboundError {
  if (error instanceof APIConnectionError) return new OutboundError('model_unavailable', 'the model endpoint could not be reached');
  return isApiError(error) ? statusFailure(error) : unusable();
}

/** `instanceof` alone leaves the class's type parameters open. */
function isApiError(error: unknown): error is APIError {
  return error instanceof APIError;
}

function statusFailure({ status, headers }: APIError): OutboundError {
  if (status === undefined) return unusable();
  const message = `the model endpoint answered with status ${status}`;
  if (!isPassingStatus(status)) return new OutboundError('model_refused', message, { status });
  return new OutboundError('model_unavailable', message, { status, retryAfterMs: retryAfterMs(headers?.get('retry-after'), Date.now()) });
}

function unusable(): OutboundError {
  return new OutboundError('model_answer_unusable', 'the model endpoint gave no answer that can be read');
}
