import { deltaId, type NewsContent, type StepNews } from './deltas.js';
import type { Collections } from '../../stores/collections.js';
import { within } from '../../base/async.js';

const flushIntervalMs = 200;
const maxBatchLength = 2048;
const keptMs = 3_600_000;
/** The maximum time that the end of a step waits for the remaining news to be written. */
const maxFinalWriteMs = 1000;

const progressIntervalMs = 500;
const maxReports = 200;
const maxMessageLength = 500;

export type ReportingStep = Omit<StepNews, 'n'> & { execution_id: string };
type Deltas = Pick<Collections, 'execution_deltas'>;

/**
 * Writes what `take` returns for viewers, in batches, on a best-effort basis: after a failed write, it skips the rest,
 * because text with a gap is worse than text that ends early. The step itself continues.
 */
function createNewsWriter(
  { execution_deltas }: Deltas,
  { execution_id, ...step }: ReportingStep,
  { intervalMs, take }: { intervalMs: number; take: () => NewsContent | undefined },
) {
  let written = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let writing = Promise.resolve();

  const write = async (): Promise<void> => {
    const content = take();
    if (content === undefined) return;
    written += 1;
    const delta = { ...step, n: written, ...content };
    const now = Date.now();
    const expires_at = new Date(now + keptMs);
    await execution_deltas.insertOne({ _id: deltaId(execution_id, delta), ...delta, at: now / 1000, expires_at });
  };
  /** Writes after all earlier writes, because a reader that has seen one batch does not look for an earlier one. */
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    writing.catch(() => undefined);
    return writing;
  };
  return {
    now() {
      if (!isOver) void flush();
    },
    /** Writes after a short time, together with everything that is added until then. */
    soon() {
      if (!isOver) timer ??= setTimeout(() => void flush(), intervalMs);
    },
    /** Writes what remains. */
    async end(): Promise<void> {
      isOver = true;
      await within(maxFinalWriteMs, flush(), () => new Error('late')).catch(() => undefined);
    },
  };
}

/** Writes the text of a model turn. */
export function createDeltaWriter(collections: Deltas, turn: ReportingStep) {
  let waiting = '';
  const take = () => {
    const text = waiting;
    waiting = '';
    return text === '' ? undefined : { text };
  };
  const news = createNewsWriter(collections, turn, { intervalMs: flushIntervalMs, take });
  return {
    add(text: string): void {
      waiting += text;
      if (waiting.length >= maxBatchLength) news.now();
      else news.soon();
    },
    end: news.end,
  };
}

/** What a server reported about a call. It is untrusted. */
interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** Writes the progress of a call: the newest report, at most twice a second and 200 times, and the last one. */
export function createProgressWriter(collections: Deltas, step: ReportingStep) {
  let newest: NewsContent | undefined;
  let reports = 0;
  const take = () => {
    const report = newest;
    newest = undefined;
    if (report) reports += 1;
    return report;
  };
  const news = createNewsWriter(collections, step, { intervalMs: progressIntervalMs, take });
  return {
    add({ progress, total, message }: Progress): void {
      newest = {
        progress,
        total: total ?? null,
        message: message === undefined ? null : message.slice(0, maxMessageLength),
      };
      if (reports < maxReports) news.soon();
    },
    end: news.end,
  };
}
