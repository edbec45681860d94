import { flowThatCalls } from '../test/support/flows.js';
import { startHttpSink } from '../test/support/http-sink.js';
import { bareCalls } from './bare/workflows.js';
import type { BenchEnvironment } from './environment.js';
import { bareRun, runsOf } from './executions.js';
import { figure, median, range, timed, type Figure } from './measure.js';

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
  const ours = [];
  const bare = [];
  // The first round only warms up.
  for (const [round, id] of (await flow.prepare(rounds + 1)).entries()) {
    const [governed, baseline] = [
      await measured(() => flow.runToEnd(id)),
      await measured(() => bareRun(bench, bareCalls, url, acts)),
    ];
    if (round === 0) continue;
    ours.push(governed);
    bare.push(baseline);
  }
  await sink.close();
  const [one, oneBare] = [ours, bare].map((runs) => median(runs.flatMap(({ gaps }) => gaps))) as [number, number];
  const [governedTotal, bareTotal] = [ours, bare].map((runs) => median(runs.map(({ took }) => took))) as [
    number,
    number,
  ];
  return [
    figure(`one act, median (adds ${(one - oneBare).toFixed(1)} ms)`, 'ms', one, oneBare, 'adds at most 10 ms'),
    figure(
      `${acts} acts of one run, from the execute call to its end, median`,
      'ms',
      governedTotal,
      bareTotal,
      'at most 1.43',
    ),
  ];
}
