import { deltaId, type ModelDelta } from './deltas.js';
import type { Collections } from '../../stores/collections.js';
import { within } from '../../within.js';

const flushIntervalMs = 200;
const maxBatchLength = 2048;
const keptMs = 3_600_000;
/** How long the end of a turn waits until the remaining text is written. */
const maxFinalWriteMs = 1000;

export interface DeltaWriter {
  add(text: string): void;
  /** Writes the remaining text. */
  end(): Promise<void>;
}

export type DeltaTurn = Omit<ModelDelta, 'n' | 'text'> & { execution_id: string };

/**
 * Writes the words of a model turn for viewers, in batches, on a best-effort basis: after a failed write, it skips the rest,
 * because text with a gap is worse than text that ends early. The turn itself continues.
 */
export function createDeltaWriter(
  { execution_deltas }: Pick<Collections, 'execution_deltas'>,
  { execution_id, ...turn }: DeltaTurn,
): DeltaWriter {
  let waiting = '';
  let written = 0;
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;
  let hasEnded = false;
  let writing = Promise.resolve();

  const write = async (): Promise<void> => {
    const text = waiting;
    waiting = '';
    if (text === '' || hasFailed) return;
    written += 1;
    const delta = { ...turn, n: written, text };
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
    // In order, because a reader that has seen one batch does not look for an earlier one.
    writing = writing.then(write);
    return writing;
  };

  return {
    add(text) {
      if (hasEnded) return;
      waiting += text;
      if (waiting.length >= maxBatchLength) void flush();
      else timer ??= setTimeout(() => void flush(), flushIntervalMs);
    },
    async end() {
      hasEnded = true;
      await within(maxFinalWriteMs, flush(), () => new Error('late')).catch(() => undefined);
    },
  };
}
