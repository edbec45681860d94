import { deltaId, type NewsContent, type StepNews } from './deltas.js';
import type { Collections } from '../../stores/collections.js';
import { within } from '../../within.js';

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

interface NewsWriter {
  /** Writes what `take` returns, after all earlier writes. Writes nothing if it returns undefined. */
  flush(): Promise<void>;
  /** Writes after a short time, together with everything that is added until then. */
  soon(): void;
  /** Writes what remains. */
  end(): Promise<void>;
}

/**
 * Writes the news of a step for viewers, in batches, on a best-effort basis: after a failed write, it skips the rest,
 * because text with a gap is worse than text that ends early. The step itself continues.
 */
function createNewsWriter(
  { execution_deltas }: Deltas,
  { execution_id, ...step }: ReportingStep,
  { intervalMs, take }: { intervalMs: number; take: () => NewsContent | undefined },
): NewsWriter {
  let written = 0;
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;
  let writing = Promise.resolve();

  const write = async (): Promise<void> => {
    const content = take();
    if (content === undefined || hasFailed) return;
    written += 1;
    const delta = { ...step, n: written, ...content };
    const now = Date.now();
    try {
      await execution_deltas.insertOne({
        _id: deltaId(execution_id, delta),
        ...delta,
        at: now / 1000,
        expires_at: new Date(now + keptMs),
      });
    } catch {
      hasFailed = true;
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // Batches are written in sequence, because a reader that has seen one batch does not look for an earlier one.
    writing = writing.then(write);
    return writing;
  };
  return {
    flush,
    soon() {
      timer ??= setTimeout(() => void flush(), intervalMs);
    },
    async end() {
      await within(maxFinalWriteMs, flush(), () => new Error('late')).catch(() => undefined);
    },
  };
}

interface DeltaWriter {
  add(text: string): void;
  /** Writes the remaining text. */
  end(): Promise<void>;
}

/** Writes the text of a model turn. */
export function createDeltaWriter(collections: Deltas, turn: ReportingStep): DeltaWriter {
  let waiting = '';
  let hasEnded = false;
  const take = () => {
    const text = waiting;
    waiting = '';
    return text === '' ? undefined : { text };
  };
  const news = createNewsWriter(collections, turn, { intervalMs: flushIntervalMs, take });
  return {
    add(text) {
      if (hasEnded) return;
      waiting += text;
      if (waiting.length >= maxBatchLength) void news.flush();
      else news.soon();
    },
    async end() {
      hasEnded = true;
      await news.end();
    },
  };
}

/** What a server reported about a call. It is untrusted. */
interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

interface ProgressWriter {
  add(progress: Progress): void;
  /** Writes the last report. */
  end(): Promise<void>;
}

/** Writes the progress of a call: the newest report, at most twice a second and 200 times, and the last one. */
export function createProgressWriter(collections: Deltas, step: ReportingStep): ProgressWriter {
  let newest: NewsContent | undefined;
  let reports = 0;
  let hasEnded = false;
  const take = () => {
    const report = newest;
    newest = undefined;
    if (report) reports += 1;
    return report;
  };
  const news = createNewsWriter(collections, step, { intervalMs: progressIntervalMs, take });
  return {
    add({ progress, total = null, message }) {
      if (hasEnded) return;
      newest = { progress, total, message: message === undefined ? null : message.slice(0, maxMessageLength) };
      if (reports < maxReports) news.soon();
    },
    async end() {
      hasEnded = true;
      await news.end();
    },
  };
}
