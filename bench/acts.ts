import { flowThatCalls } from '../test/support/flows.js';
import { startHttpSink } from '../test/support/http-sink.js';
import { bareCalls } from './bare/workflows.js';
import type { BenchEnvironment } from './environment.js';
import { bareRun, runsOf } from './executions.js';
import { eachSide, inTurns, median, medians, range, timed, type Figure } from './measure.js';

const acts = 40;
const rounds = 8;

/**
 * Compares runs of 40 acts with bare workflows of 40 activities that make the same call, in alternating rounds. The
 * time of an act runs from its call to the next call, so it includes its step. The difference of the medians is the
 * cost of governance and of the record.
 */
export async function benchActs(bench: BenchEnvironment): Promise<Figure[]> {
  const sink = await startHttpSink();
  let arrivals: number[] = [];
  sink.answer('/', ({ path }, res) => {
    arrivals.push(performance.now());
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, path }));
  });
  /** Measures the whole run, and the times between its calls. */
  const measured = async (run: () => Promise<unknown>) => {
    arrivals = [];
    const took = await timed(run);
    if (arrivals.length !== acts) throw new Error(`a run made ${arrivals.length} calls, not ${acts}`);
    return { took, gaps: arrivals.slice(1).map((at, before) => at - (arrivals[before] ?? Number.NaN)) };
  };
  const url = `${sink.url}/act`;
  const flow = await runsOf(bench, flowThatCalls(range(acts).map(() => url)));
  const ids = await flow.prepare(rounds + 1);
  const runs = await inTurns(
    rounds,
    (round) => measured(() => flow.runToEnd(ids[round] ?? '')),
    () => measured(() => bareRun(bench, bareCalls, url, acts)),
  );
  await sink.close();
  const gaps = eachSide(runs, (all) => all.flatMap((run) => run.gaps));
  const totals = eachSide(runs, (all) => all.map(({ took }) => took));
  const added = (median(gaps.ours) - median(gaps.baseline)).toFixed(1);
  return [
    medians(`one act, median (adds ${added} ms)`, 'ms', gaps, 'adds at most 10 ms'),
    medians(`${acts} acts of one run, from the execute call to its end, median`, 'ms', totals, 'at most 1.43'),
  ];
}
