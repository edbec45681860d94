import { processorMs } from './processes.js';
import { inParallel, inTurns, median, range, timed, type Sides } from './measure.js';

/** The process that answers the calls, and one call. */
interface Side {
  /** Undefined if the process is not on this machine. */
  pid: number | undefined;
  work: () => Promise<unknown>;
}

interface Measured {
  /** The median of the rounds, in calls per second. */
  rate: number;
  /** The median of the calls. */
  ms: number;
  /** The processor time of the process per call, in milliseconds. It depends less on other load on the machine. */
  processor: number;
}

/** Measures alternating rounds of calls to two processes, after a warm-up. */
export async function comparedCalls(
  sides: Sides<Side>,
  { rounds, calls, callers }: { rounds: number; calls: number; callers: number },
): Promise<Sides<Measured>> {
  const roundOf = async ({ pid, work }: Side) => {
    const times: number[] = [];
    const used = () => (pid === undefined ? Number.NaN : processorMs(pid));
    const before = used();
    const ms = await timed(() => inParallel(range(calls), callers, async () => times.push(await timed(work))));
    return { times, rate: (calls / ms) * 1000, processor: (used() - before) / calls };
  };
  const measured = await inTurns(
    rounds,
    () => roundOf(sides.ours),
    () => roundOf(sides.baseline),
  );
  const summaryOf = (all: typeof measured.ours): Measured => ({
    rate: median(all.map(({ rate }) => rate)),
    ms: median(all.flatMap(({ times }) => times)),
    processor: median(all.map(({ processor }) => processor)),
  });
  return { ours: summaryOf(measured.ours), baseline: summaryOf(measured.baseline) };
}
