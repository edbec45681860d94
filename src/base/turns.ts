import { setMaxListeners } from 'node:events';
import type { ErrorCode } from './error-catalog.js';
import { AppError } from './errors.js';

export type Turns = ReturnType<typeof createTurns>;

/** What one owner (a project, an organization) has in the line. */
interface Line {
  running: number;
  /** All that is inside `take`: running, waiting or away. */
  present: number;
  /** The number of the owner's last turn, over all owners. 0: none yet. */
  lastTurn: number;
  waiting: (() => void)[];
}

interface TakeOptions {
  signal?: AbortSignal | undefined;
  /** The longest wait of this call; by default the one of the limits. */
  waitTimeoutMs?: number | undefined;
}

/** The turn that `work` has. */
export interface Turn {
  /** Gives the turn to others while `wait` waits for something outside, and gets one again afterwards. */
  away<T>(wait: () => Promise<T>): Promise<T>;
}

/** The part of a shared resource that one owner may use: a third, so that others always find a free part. */
export const shareOf = (total: number): number => Math.max(1, Math.floor(total / 3));

interface Limits {
  what: string;
  maxRunning: number;
  /** The default is no limit over all owners. */
  maxTotal?: number;
  /** Per owner, in addition to those that run. */
  maxWaiting: number;
  waitTimeoutMs: number;
  /** The owner of the limit, named in the message of the refusal. The default is `the project`. */
  whose?: string;
  code?: ErrorCode;
  retryAfterSeconds?: number;
}

/**
 * Shares a limited resource of a process. Each owner runs at most `maxRunning` at once, and all together `maxTotal`.
 * A free turn goes to the waiting owner that runs least, and among equals to the one whose last turn is longest ago.
 */
export function createTurns(limits: Limits) {
  const { maxRunning, maxWaiting } = limits;
  const lines = new Map<string, Line>();
  const slots = createSlots(limits, lines);
  return {
    /**
     * Runs `work` when its owner may run more.
     * @throws AppError `quota_exceeded`, or the code of the limits, if too many of the owner wait or no turn comes in time
     */
    async take<T>(
      owner: string,
      work: (turn: Turn) => Promise<T>,
      { signal, waitTimeoutMs = limits.waitTimeoutMs }: TakeOptions = {},
    ): Promise<T> {
      const line = lines.get(owner) ?? { running: 0, present: 0, lastTurn: 0, waiting: [] };
      if (line.present >= maxRunning + maxWaiting) throw retryLater(limits);
      lines.set(owner, line);
      line.present += 1;
      let hasTurn = false;
      let isOver = false;
      let away = 0;
      const begun = async (longest?: number) => {
        await slots.enter(line, signal, longest);
        // Meanwhile the work may have ended, or gone away again.
        if (isOver || hasTurn || away > 0) slots.exit(line);
        else hasTurn = true;
      };
      const end = () => {
        if (hasTurn) slots.exit(line);
        hasTurn = false;
      };
      const turn: Turn = {
        async away(wait) {
          away += 1;
          end();
          return wait().finally(async () => {
            away -= 1;
            // A call that has begun keeps its place, however long it waits for its next turn.
            if (away === 0 && !hasTurn && !isOver) await begun();
          });
        },
      };
      try {
        await begun(waitTimeoutMs);
        return await work(turn);
      } finally {
        isOver = true;
        end();
        line.present -= 1;
        if (line.present === 0) lines.delete(owner);
      }
    },
  };
}

/** Counts the turns that are taken, and gives each free one to a line that waits. */
function createSlots(limits: Limits, lines: ReadonlyMap<string, Line>) {
  const { maxRunning, maxTotal = Infinity } = limits;
  let running = 0;
  let turns = 0;

  function begin(line: Line): void {
    line.running += 1;
    line.lastTurn = turns += 1;
    running += 1;
  }

  function nextLine(): Line | undefined {
    let best: Line | undefined;
    for (const line of lines.values()) {
      if (line.waiting.length === 0 || line.running >= maxRunning) continue;
      const isBetter =
        !best || line.running < best.running || (line.running === best.running && line.lastTurn < best.lastTurn);
      if (isBetter) best = line;
    }
    return best;
  }

  return {
    enter(line: Line, signal: AbortSignal | undefined, waitTimeoutMs: number | undefined): Promise<void> {
      const disconnected = () => new AppError('call_timed_out', 'the caller disconnected');
      if (signal?.aborted) return Promise.reject(disconnected());
      if (line.running < maxRunning && running < maxTotal) {
        begin(line);
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const settle = (how: () => void) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          how();
        };
        const leave = (error: AppError) => {
          line.waiting.splice(line.waiting.indexOf(start), 1);
          settle(() => reject(error));
        };
        const start = () => settle(resolve);
        const onAbort = () => leave(disconnected());
        const timer =
          waitTimeoutMs === undefined ? undefined : setTimeout(() => leave(retryLater(limits)), waitTimeoutMs);
        line.waiting.push(start);
        // Many calls may share the signal of their process.
        if (signal) setMaxListeners(0, signal);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
    exit(line: Line): void {
      line.running -= 1;
      running -= 1;
      const next = nextLine();
      const start = next?.waiting.shift();
      if (!next || !start) return;
      begin(next);
      start();
    },
  };
}

function retryLater({ what, whose = 'the project', maxRunning, maxWaiting, code, retryAfterSeconds = 1 }: Limits) {
  return new AppError(
    code ?? 'quota_exceeded',
    `${whose} has too many ${what} at once: ${maxRunning} run and at most ${maxWaiting} wait; retry in ${retryAfterSeconds} s`,
    { retryAfterSeconds },
  );
}
