import { setTimeout as delay } from 'node:timers/promises';
import type OpenAI from 'openai';
import { AppError } from '../base/errors.js';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';
import type { EmbeddingConfig } from './environment.js';
import { failureOf } from './sdk-failure.js';
import { createOpenAiClient } from './openai-client.js';
import { createTurns } from '../base/turns.js';
import { estimatedTokens } from './tokens.js';

/** A model and the length of its vectors. Vectors of different models cannot be compared. */
export interface EmbeddingModel {
  model: string;
  dimensions: number;
}

interface Embedded {
  /** The vectors in the order of the texts. */
  vectors: number[][];
  /** The number that the endpoint reports, or an estimate of about four characters per token. */
  inputTokens: number;
}

/** Converts texts to vectors. All calls of an embedding endpoint go through this interface. */
export interface Embedder {
  /** The configured model, or undefined without an endpoint. */
  model: EmbeddingModel | undefined;
  /**
   * Returns the vectors of the texts.
   * @param timeoutMs the limit for each request
   * @param owner whose texts they are: the requests alternate between owners
   * @param as another model of the same endpoint; the configured one if omitted
   * @throws OutboundError `model_*`, `timeout` or `too_large`; AppError `unconfigured` without an endpoint or if the
   * vectors have another length; the signal's reason when it aborts
   */
  embed(
    texts: readonly string[],
    options: { signal: AbortSignal; timeoutMs?: number; as?: EmbeddingModel; owner?: string },
  ): Promise<Embedded>;
  /** Returns the last failure of this process, or null if its last request succeeded. */
  problem(): string | null;
}

const maxTextsPerRequest = 64;
const maxCharactersPerRequest = 200_000;
const defaultTimeoutMs = 60_000;
/** Fits 64 vectors of 4096 numbers as JSON. */
const maxBytes = 16 * 1024 * 1024;

/** Creates an embedder for the configured endpoint. Without an endpoint, it rejects every call. */
export function createEmbedder(config: EmbeddingConfig | undefined): Embedder {
  if (config === undefined) {
    const embed = () => Promise.reject(new AppError('unconfigured', 'EMBEDDING_BASE_URL is not set'));
    return { model: undefined, embed, problem: () => null };
  }
  const { baseUrl, apiKey, model, dimensions } = config;
  const client = createOpenAiClient({ baseUrl, apiKey, idleMs: defaultTimeoutMs, maxBytes, maxEventBytes: maxBytes });
  const turn = createSpacing(1000 / config.requestsPerSecond);
  /** The models that return vectors of the expected length only if the request specifies `dimensions`. */
  const needDimensions = new Set<string>();
  let problem: string | null = null;
  /** Reduced after a request that timed out: a small local model needs a second for some texts. */
  let textsPerRequest = maxTextsPerRequest;

  async function request(
    texts: readonly string[],
    as: EmbeddingModel,
    owner: string,
    signal: AbortSignal,
  ): Promise<Embedded> {
    await turn(owner, signal);
    const key = JSON.stringify(as);
    const answer = await ask(client, texts, as, { saysLength: needDimensions.has(key), signal });
    if (answer.vectors.every(({ length }) => length === as.dimensions)) return answer;
    const found = answer.vectors.find(({ length }) => length !== as.dimensions)?.length ?? 0;
    if (needDimensions.has(key)) throw wrongLength(as, found);
    // Many compatible endpoints refuse `dimensions`, so it is sent only where it is needed.
    await turn(owner, signal);
    const again = await ask(client, texts, as, { saysLength: true, signal }).catch((error: unknown) => {
      throw isOutboundError(error) && error.code === 'model_refused' ? wrongLength(as, found) : error;
    });
    const still = again.vectors.find(({ length }) => length !== as.dimensions);
    if (still) throw wrongLength(as, still.length);
    needDimensions.add(key);
    return again;
  }

  return {
    model: { model, dimensions },
    problem: () => problem,
    async embed(texts, { signal, timeoutMs = defaultTimeoutMs, as = { model, dimensions }, owner = '' }) {
      const vectors: number[][] = [];
      let inputTokens = 0;
      try {
        for (const batch of requestsOf(texts, textsPerRequest)) {
          const answer = await withDeadline({ timeoutMs, signal }, (ended) => request(batch, as, owner, ended));
          vectors.push(...answer.vectors);
          inputTokens += answer.inputTokens;
        }
        if (texts.length > textsPerRequest) textsPerRequest = Math.min(maxTextsPerRequest, textsPerRequest * 2);
      } catch (error) {
        if (texts.length > 1 && isOutboundError(error) && error.code === 'timeout')
          textsPerRequest = Math.max(1, Math.floor(Math.min(textsPerRequest, texts.length) / 4));
        if (!signal.aborted) problem = error instanceof Error ? error.message : String(error);
        throw error;
      }
      problem = null;
      return { vectors, inputTokens };
    },
  };
}

async function ask(
  client: OpenAI,
  texts: readonly string[],
  { model, dimensions }: EmbeddingModel,
  { saysLength, signal }: { saysLength: boolean; signal: AbortSignal },
): Promise<Embedded> {
  const body = { model, input: [...texts], encoding_format: 'float' as const, ...(saysLength && { dimensions }) };
  const answer: unknown = await client.embeddings.create(body, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw failureOf(error, client.apiKey ? [client.apiKey] : []);
  });
  return readAnswer(answer, texts);
}

/** Reads the vectors of a response. Endpoints may return them in any order; `index` identifies the text. */
function readAnswer(answer: unknown, texts: readonly string[]): Embedded {
  const { data, usage } = (answer ?? {}) as { data?: unknown; usage?: { prompt_tokens?: unknown } | null };
  const vectors: number[][] = [];
  for (const [at, each] of (Array.isArray(data) ? (data as unknown[]) : []).entries()) {
    const { index = at, embedding } = (each ?? {}) as { index?: unknown; embedding?: unknown };
    if (typeof index === 'number' && isVector(embedding)) vectors[index] = embedding;
  }
  if (vectors.length !== texts.length || Object.keys(vectors).length !== texts.length) {
    throw new OutboundError('model_answer_unusable', 'the embedding endpoint did not return one vector for each text');
  }
  const reported = usage?.prompt_tokens;
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return {
    vectors,
    inputTokens:
      Number.isSafeInteger(reported) && Number(reported) >= 0 ? Number(reported) : estimatedTokens(characters),
  };
}

/**
 * Returns whether Neo4j can index the value. Neo4j stores 32-bit numbers and refuses infinite ones. A zero vector has
 * no direction, so the index refuses it.
 */
function isVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((each) => typeof each === 'number' && Number.isFinite(Math.fround(each))) &&
    value.some((each) => Math.fround(each as number) !== 0)
  );
}

/** Returns whether the endpoint failed because of the text, so that it may accept another one. */
export function isRefusedText(error: unknown): error is OutboundError {
  if (!isOutboundError(error)) return false;
  return error.code === 'model_answer_unusable' || [400, 413, 422].includes(error.status ?? 0);
}

function wrongLength({ model, dimensions }: EmbeddingModel, found: number): AppError {
  return new AppError(
    'unconfigured',
    `the embedding model ${model} returns vectors of ${found} values, but EMBEDDING_DIMENSIONS is ${dimensions}`,
  );
}

function* requestsOf(texts: readonly string[], maxTexts: number): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const isFull = batch.length >= maxTexts || characters + text.length > maxCharactersPerRequest;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Spaces calls: each caller waits until `everyMs` after the previous one. Owners alternate, so that the many calls of one
 * do not delay another. A caller that aborts takes no turn.
 */
function createSpacing(everyMs: number): (owner: string, signal: AbortSignal) => Promise<void> {
  const turns = createTurns({
    ...{ what: 'requests for embeddings', whose: 'the organization' },
    ...{ maxRunning: 1, maxTotal: 1, maxWaiting: 1000, waitTimeoutMs: defaultTimeoutMs },
  });
  let next = 0;
  return (owner, signal) =>
    turns.take(
      owner,
      async () => {
        await delay(Math.max(0, next - Date.now()), undefined, { signal });
        next = Date.now() + everyMs;
      },
      { signal },
    );
}
