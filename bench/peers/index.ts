import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { flowThatCalls } from '../../test/support/flows.js';
import { choosePorts } from '../../stack/ports.js';
import type { BenchEnvironment } from '../environment.js';
import { awaitedRuns } from '../executions.js';
import { figure, median, perSecond, range, timed, type Figure } from '../measure.js';
import type { Engine, Steps } from './engine.js';
import { startDbos, startLangGraph, startN8n, startRestate } from './engines.js';
import { startPostgres } from './postgres.js';
import { processorMsOfTrees } from '../processes.js';

const rounds = 3;
const callers = 20;
const longRuns = 8;
const shortRuns = 100;

const measures = {
  'median of 40 steps': 'ms',
  'processor time of 40 steps': 'ms',
  'runs of two steps, 20 callers': '1/s',
  'processor time of two steps': 'ms',
} as const;
type Measures = Record<keyof typeof measures, number>;

/**
 * Compares flows of light steps with those of other engines, which npm installs into the cache folder. The engines take turns in
 * each round. Needs PostgreSQL on the path.
 */
export async function benchPeers(bench: BenchEnvironment): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'service-peers-'));
  const { port } = await choosePorts(['port'], {});
  const postgres = await startPostgres(port, path.join(folder, 'postgres.log'));
  const engines: Engine[] = [];
  try {
    const ours = [await product(bench, '`set` steps', stepsOf), await product(bench, 'agents', agentsOf)];
    for (const start of [startDbos, startLangGraph, startRestate, startN8n])
      engines.push(await start({ folder, postgres }));
    const measured = await inRounds([...ours, ...engines]);
    return ours.flatMap((own) => engines.flatMap((peer) => figuresOf(own, peer, measured)));
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function product(bench: BenchEnvironment, name: string, flowOf: (steps: Steps) => object): Promise<Engine> {
  const { api, projectID } = await bench.person();
  const runs = { 2: await awaitedRuns(api, projectID, flowOf(2)), 40: await awaitedRuns(api, projectID, flowOf(40)) };
  return {
    name,
    run: async (steps) => void (await runs[steps]()),
    pids: bench.pids().map(({ pid }) => pid),
    stop: () => Promise.resolve(),
  };
}

function stepsOf(count: Steps) {
  const steps = range(count).map((at) => ({
    _id: `s${at + 1}`,
    type: 'set',
    title: `Step ${at + 1}`,
    values: { output: `'Step ${at + 1} for ' + goal` },
    next: at + 1 === count ? null : `s${at + 2}`,
  }));
  return { name: `${count} steps`, initialAgent: 's1', agents: [], steps };
}

function agentsOf(count: Steps) {
  return flowThatCalls(...range(count).map(() => []));
}

async function inRounds(engines: readonly Engine[]): Promise<Map<Engine, Measures[]>> {
  const measured = new Map<Engine, Measures[]>(engines.map((engine) => [engine, []]));
  for (const round of range(1 + rounds)) {
    for (const engine of engines) {
      const values = await measure(engine);
      // The first round warms up.
      if (round > 0) measured.get(engine)?.push(values);
    }
  }
  return measured;
}

async function measure(engine: Engine): Promise<Measures> {
  const begun = processorMsOfTrees(engine.pids);
  const times: number[] = [];
  for (const _run of range(longRuns)) times.push(await timed(() => engine.run(40)));
  const between = processorMsOfTrees(engine.pids);
  const rate = await perSecond(shortRuns, callers, () => engine.run(2));
  const ended = processorMsOfTrees(engine.pids);
  return {
    'median of 40 steps': median(times),
    'processor time of 40 steps': (between - begun) / longRuns,
    'runs of two steps, 20 callers': rate,
    'processor time of two steps': (ended - between) / shortRuns,
  };
}

function figuresOf(own: Engine, peer: Engine, measured: Map<Engine, Measures[]>): Figure[] {
  const of = (engine: Engine, what: keyof Measures) => median((measured.get(engine) ?? []).map((one) => one[what]));
  return (Object.keys(measures) as (keyof Measures)[]).map((what) =>
    figure(`${own.name} against ${peer.name}: ${what}`, measures[what], of(own, what), of(peer, what), ''),
  );
}
