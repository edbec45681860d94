import type { SecretBox } from '../../auth/secret-box.js';
import { bounded } from '../../governance/bounded.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { within } from '../../base/async.js';
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
  /** The lines that the code of a step wrote. */
  log?: string[];
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
/** Parts are written this long after they were added, if the record of a run is not written earlier. */
const writeEveryMs = 1000;
/** The maximum time that the record of a run waits for the exchanges of its steps to be written. */
const maxWaitMs = 1000;
/** The maximum number of exchanges in one command. */
const maxWritten = 100;
/** The maximum number that waits for the store. Later ones are not kept. */
const maxWaiting = 1000;
const maxShown = 5;
const maxTextLength = 32_000;

export type Exchanges = ReturnType<typeof createExchanges>;

interface ExchangeDeps {
  collections: Pick<Collections, 'execution_exchanges'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
}

/**
 * Stores what steps send and receive, separately from the histories and records of runs. Steps do not wait for it: all
 * exchanges of a second are written together. Writes are best effort.
 */
export function createExchanges({ collections, secrets }: ExchangeDeps) {
  const waiting = new Map<string, Exchange>();
  let writing = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function writeWaiting(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, maxWritten);
      for (const [_id] of batch) waiting.delete(_id);
      const writes = batch.map(([_id, exchange]) => {
        const sealed = secrets.seal(JSON.stringify(shortened(exchange)), purposeOf(_id));
        const replacement = { sealed, expires_at: new Date(exchange.started_at * 1000 + keptMs) };
        return { replaceOne: { filter: { _id }, replacement, upsert: true } };
      });
      await collections.execution_exchanges.bulkWrite(writes, { ordered: false }).catch(() => undefined);
    }
  }
  /** Writes what was added so far, or waits a second. Never rejects. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(writeWaiting);
    await within(maxWaitMs, writing, () => new Error('late')).catch(() => undefined);
  }
  return {
    /** @param key the idempotency key of the step */
    begin(key: string, attempt: number) {
      const now = Date.now();
      const exchange: Exchange = { attempt, started_at: now / 1000 };
      const _id = `${key}#${String(now).padStart(13, '0')}`;
      let hasParts = false;
      const add = () => {
        if (waiting.size >= maxWaiting && !waiting.has(_id)) return;
        waiting.set(_id, exchange);
        timer ??= setTimeout(() => void flush(), writeEveryMs);
      };
      return {
        note(part: ExchangePart): void {
          hasParts = true;
          Object.assign(exchange, part);
          if ('output' in part) exchange.ended_at = Date.now() / 1000;
          add();
        },
        end(): void {
          if (!hasParts || exchange.ended_at !== undefined) return;
          exchange.ended_at = Date.now() / 1000;
          add();
        },
      };
    },
    flush,
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

/** Removes the exchanges of all steps of an execution. Safe to repeat. */
export async function removeExchanges(
  { execution_exchanges }: Pick<Collections, 'execution_exchanges'>,
  executionId: string,
): Promise<void> {
  // "0" is the next character after "/".
  await execution_exchanges.deleteMany({ _id: { $gt: `${executionId}/`, $lt: `${executionId}0` } });
}

function purposeOf(id: string): string {
  return `execution-exchange:${id}`;
}

export const executionExchangesCollection = defineCollection('execution_exchanges', { indexes: [expiring] });

declare module '../../stores/collections.js' {
  interface Documents {
    execution_exchanges: ExecutionExchangeDocument;
  }
}
