import { LRUCache } from 'lru-cache';
import { sha256Hex } from '../base/hash.js';
import { canonicalText } from '../base/json.js';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError, type OutboundError } from '../outbound/outbound-error.js';
import { done, readAnswer } from './answer-events.js';
import { errorIn, readError, type EndpointError } from './endpoint-error.js';
import { endpointFailure, unreachableEndpoint, unusableAnswer } from './endpoint-failure.js';
import { nextDialect } from './negotiation.js';
import { collectAnswer } from './openai-answer.js';
import { bodyOf, fullDialect, type Dialect } from './openai-request.js';
import type { ChatCompletion, ChatModel, ChatRequest } from './port.js';
import { createWatchedFetch } from './watched-fetch.js';

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
const maxModels = 500;

/** An endpoint with the way to ask each of its models, and for each schema of answers, that it has accepted. */
interface Endpoint {
  url: string;
  apiKey: string | undefined;
  fetch: typeof fetch;
  dialects: LRUCache<string, Dialect>;
}

/** Creates a model for an OpenAI-compatible endpoint. The caller retries. */
export function createOpenAiModel({
  baseUrl,
  apiKey,
  timeoutMs = 9 * 60_000,
  idleMs = 2 * 60_000,
}: OpenAiOptions): ChatModel {
  const endpoint: Endpoint = {
    url: `${baseUrl.replace(/\/$/, '')}/chat/completions`,
    apiKey,
    fetch: createWatchedFetch({ idleMs, maxBytes, maxEventBytes }),
    dialects: new LRUCache({ max: maxModels }),
  };
  return {
    complete: (request) =>
      withDeadline({ timeoutMs, signal: request.signal }, (signal) => ask(endpoint, { ...request, signal })),
  };
}

/**
 * Asks with all that the request contains, and again without what the endpoint refuses, which differs between models. What
 * the endpoint has accepted is kept, so that later requests begin with it.
 */
async function ask(endpoint: Endpoint, request: ChatRequest): Promise<ChatCompletion> {
  const key = keyOf(request);
  const known = endpoint.dialects.get(key) ?? endpoint.dialects.get(request.model) ?? fullDialect;
  for (let dialect = known; ;) {
    const body = bodyOf(request, dialect);
    try {
      const completion = await exchange(endpoint, request, body);
      if (dialect !== known) endpoint.dialects.set(key, dialect);
      return completion;
    } catch (error) {
      request.signal.throwIfAborted();
      if (!(error instanceof EndpointRefusal)) {
        // The endpoint has accepted the request, although its answer is not usable.
        if (isOutboundError(error) && error.code !== 'model_unavailable' && error.code.startsWith('model_'))
          endpoint.dialects.set(key, dialect);
        throw isOutboundError(error) ? error : unusableAnswer();
      }
      const next = error.hasText ? undefined : nextDialect(error.said, body, dialect);
      if (!next) throw error.failure;
      dialect = next;
    }
  }
}

/** An endpoint can refuse one schema of answers and accept another. */
function keyOf({ model, outputSchema }: ChatRequest): string {
  return outputSchema ? `${model} ${sha256Hex(canonicalText(outputSchema))}` : model;
}

/** An error that the endpoint reported, before it becomes the caller's. */
class EndpointRefusal extends Error {
  constructor(
    readonly said: EndpointError,
    readonly failure: OutboundError,
    /** Whether a part of the answer came before the error, so that it is not asked again in the same attempt. */
    readonly hasText = false,
  ) {
    super(failure.message);
  }
}

async function exchange(endpoint: Endpoint, request: ChatRequest, body: object): Promise<ChatCompletion> {
  const { signal } = request;
  const secrets = endpoint.apiKey === undefined ? [] : [endpoint.apiKey];
  const response = await send(endpoint, request, body);
  const { headers, status } = response;
  if (!response.ok) {
    const said = readError(await response.text(), status);
    throw new EndpointRefusal(said, endpointFailure({ ...said, status }, { headers, secrets }));
  }
  const answer = collectAnswer(request, secrets);
  for await (const part of readAnswer(response)) {
    if (part === done) {
      answer.end();
      break;
    }
    const said = errorIn(part.json);
    if (said)
      throw new EndpointRefusal(said, endpointFailure(said, { headers, secrets, isInAnswer: true }), answer.hasBegun());
    answer.add(part.json);
    if (part.isWhole) answer.end();
  }
  signal.throwIfAborted();
  return answer.completion();
}

async function send({ url, apiKey, fetch }: Endpoint, request: ChatRequest, body: object): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      signal: request.signal,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'idempotency-key': encodeURI(request.idempotencyKey),
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
    });
  } catch (error) {
    request.signal.throwIfAborted();
    throw isOutboundError(error) ? error : unreachableEndpoint();
  }
}
