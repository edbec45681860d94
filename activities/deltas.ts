import { deltaId, type ModelDelta } from '../src/platform/resources/executions/deltas.js';
import type { Collections } from '../src/stores/collections.js';

const everyMs = 200;
const charactersAtOnce = 2048;
const keptMs = 3_600_000;
/** How long the end of a turn waits for its last words to be written. */
const patienceMs = 1000;

export interface DeltaWriter {
  add(text: string): void;
  /** Writes what is left. */
  end(): Promise<void>;
}

export type DeltaTurn = Omit<ModelDelta, 'n' | 'text'> & { execution_id: string };

/**
 * Writes the words of a model turn for those who watch, in batches. At best: after a write that failed the rest is left
 * out, since words with a gap are worse than words that end, and the turn goes on.
 */
export function createDeltaWriter({ execution_deltas }: Pick<Collections, 'execution_deltas'>, { execution_id, ...turn }: DeltaTurn): DeltaWriter {
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
      await execution_deltas.insertOne({ _id: deltaId(execution_id, delta), ...delta, at: now / 1000, expires_at: new Date(now + keptMs) });
    } catch {
      hasFailed = true;
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // One after the other: a reader that has seen the next would not look for the one before.
    writing = writing.then(write);
    return writing;
  };

  return {
    add(text) {
      if (hasEnded) return;
      waiting += text;
      if (waiting.length >= charactersAtOnce) void flush();
      else timer ??= setTimeout(() => void flush(), everyMs);
    },
    async end() {
      hasEnded = true;
      let late: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        late = setTimeout(resolve, patienceMs);
      });
      await Promise.race([flush(), patience]);
      clearTimeout(late);
    },
  };
}
