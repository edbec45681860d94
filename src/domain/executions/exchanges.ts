import type { SecretBox } from '../../auth/secret-box.js';
import { bounded } from '../../governance/bounded.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { createGroupedWrites } from '../../stores/grouped-writes.js';
import { within } from '../../within.js';
import type { PromptSent } from './prompt-sent.js';

/** What one attempt of a step sent and received, without credentials. */
export interface Exchange {
  attempt: number;
  /** Epoch seconds. */
  started_at: number;
  ended_at?: number;
  /** The governed call of the attempt. */
  lifecycle_id?: string;
  prompt?: PromptSent;
  input?: unknown;
  request?: unknown;
  response?: { status: number; headers: Record<string, string>; body?: unknown };
  output?: unknown;
}

export type ExchangePart = Omit<Partial<Exchange>, 'attempt' | 'started_at' | 'ended_at'>;

/** `_id` is the idempotency key of the step with the time of the attempt, so that ids sort by time. */
interface ExecutionExchangeDocument {
  _id: string;
  /** The JSON of an `Exchange`. */
  sealed: string;
  expires_at: Date;
}

/** As long as Temporal keeps the histories of closed runs by default. */
const keptMs = 30 * 24 * 3_600_000;
/** An attempt that takes longer is written before it ends, so that people can see it while it runs. */
const firstWriteMs = 1000;
/** The maximum time that the end of a step waits for its exchange to be written. */
const maxWaitMs = 1000;
const maxShown = 5;
const maxTextLength = 32_000;

interface ExchangeWriter {
  /** Adds a part. An output is written at once, while the step writes its own records. */
  note(part: ExchangePart): void;
  /** Writes what remains. */
  end(): Promise<void>;
}

export interface Exchanges {
  /** @param key the idempotency key of the step; undefined for earlier releases, whose exchanges are not kept */
  begin(key: string | undefined, attempt: number): ExchangeWriter;
}

interface ExchangeDeps {
  collections: Pick<Collections, 'execution_exchanges'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
}

/**
 * Stores what steps send and receive, separately from the histories and records of runs. Steps share writes. Writes are
 * best effort: a step does not fail because its exchange was not stored.
 */
export function createExchanges({ collections, secrets }: ExchangeDeps): Exchanges {
  const writeExchanges = createGroupedWrites(collections.execution_exchanges);
  return {
    begin(key, attempt) {
      const now = Date.now();
      const exchange: Exchange = { attempt, started_at: now / 1000 };
      const write = async () => {
        if (key === undefined) return;
        const _id = `${key}#${String(now).padStart(13, '0')}`;
        const sealed = secrets.seal(JSON.stringify(shortened(exchange)), purposeOf(_id));
        const kept = { sealed, expires_at: new Date(now + keptMs) };
        await writeExchanges([{ replaceOne: { filter: { _id }, replacement: kept, upsert: true } }]);
      };
      return createWriter(exchange, write);
    },
  };
}

function createWriter(exchange: Exchange, write: () => Promise<void>): ExchangeWriter {
  let isNew = false;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const flush = () => {
    clearTimeout(timer);
    if (!isNew) return;
    isNew = false;
    writing = writing.then(write).catch(() => undefined);
  };
  return {
    note(part) {
      Object.assign(exchange, part);
      if (!isNew) timer = setTimeout(flush, firstWriteMs);
      isNew = true;
      if (!('output' in part)) return;
      exchange.ended_at = Date.now() / 1000;
      flush();
    },
    async end() {
      if (isNew) exchange.ended_at ??= Date.now() / 1000;
      flush();
      await within(maxWaitMs, writing, () => new Error('late')).catch(() => undefined);
    },
  };
}

/** The prompt is already short. Omits the body of an answer that became the output, so that it is not stored twice. */
function shortened({ input, request, response, output, ...rest }: Exchange): Exchange {
  const shortBody = output === undefined &&
    response?.body !== undefined && { body: bounded(response.body, maxTextLength) };
  return {
    ...rest,
    ...(input !== undefined && { input: bounded(input, maxTextLength) }),
    ...(request !== undefined && { request: bounded(request, maxTextLength) }),
    ...(response && { response: { status: response.status, headers: response.headers, ...shortBody } }),
    ...(output !== undefined && { output: bounded(output, maxTextLength) }),
  };
}

/** What the newest five attempts of a step sent and received, oldest first. */
export async function readExchanges(
  { collections, secrets }: ExchangeDeps,
  executionId: string,
  stepId: string,
): Promise<Exchange[]> {
  const key = `${executionId}/${stepId}#`;
  // ":" is the next character after the digits.
  const found = await collections.execution_exchanges
    .find({ _id: { $gt: key, $lt: `${key}:` } })
    .sort({ _id: -1 })
    .limit(maxShown)
    .toArray();
  return found.reverse().map(({ _id, sealed }) => JSON.parse(secrets.open(sealed, purposeOf(_id))) as Exchange);
}

/** All exchanges of an execution. "0" is the next character after "/". */
export const exchangesOf = (executionId: string) => ({ _id: { $gt: `${executionId}/`, $lt: `${executionId}0` } });

function purposeOf(id: string): string {
  return `execution-exchange:${id}`;
}

export const executionExchangesCollection = defineCollection('execution_exchanges', { indexes: [expiring] });

declare module '../../stores/collections.js' {
  interface Documents {
    execution_exchanges: ExecutionExchangeDocument;
  }
}
