import path from 'node:path';
import { readWorkspace } from '../src/domain/workspace/record.js';
import { newId } from '../src/base/ids.js';
import { apiClient, type Answer, type ApiClient } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import { startScript } from '../test/support/processes.js';
import { comparedCalls } from './calls.js';
import type { BenchEnvironment } from './environment.js';
import { figure, type Figure } from './measure.js';

const callers = 16;
const perRound = 400;
const rounds = 5;

/** A write with what it needs, once for each side. */
type Prepare = (api: ApiClient, projectID: string) => Promise<() => Promise<Answer>>;

const writes: [string, Prepare][] = [
  [
    'prepare an execution',
    async (api, projectID) => {
      const { body } = await api.post(`/agentflow?projectID=${projectID}`, agentflow);
      return () => api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: body._id, goal: 'x' });
    },
  ],
  ['make a skill', (api, projectID) => Promise.resolve(() => api.post(`/skill?projectID=${projectID}`, skill))],
  [
    'add a row (not recorded)',
    async (api, projectID) => {
      const { body } = await api.post(`/storage/${projectID}/table`, { table_name: `bench ${newId()}` });
      return () => api.post(`/storage/${projectID}/table/${String(body._id)}/row`, {});
    },
  ],
];

/** A process that answers the writes, and the project of its key. */
interface Side {
  pid: number;
  api: ApiClient;
  projectID: string;
}

/**
 * Compares platform writes through the operation kernel with the same routes without it, and, if `BENCH_BEFORE` names a
 * built checkout of an older release, with that release (goal: at most 1.25 times).
 */
export async function benchPlatformWrites(bench: BenchEnvironment): Promise<Figure[]> {
  const { apiKey, projectID } = await bench.workspace();
  const checkout = process.env.BENCH_BEFORE;
  const before = checkout === undefined ? undefined : await startRelease(bench, checkout);
  const server = await startScript('bench/bare/write-server.js', bench.env, logFile(bench, 'bare'), 'listening');
  const sideOf = ({ pid }: { pid?: number | undefined }, url: string) => ({
    pid: pid ?? 0,
    api: apiClient(url, { 'x-api-key': apiKey }),
    projectID,
  });
  const ours = sideOf(bench.api.child, bench.api.url);
  try {
    const bare = sideOf(server.child, `http://127.0.0.1:${Number(server.up.port)}`);
    const figures = await compared(ours, bare, 'bare');
    return before ? [...figures, ...(await compared(ours, before.side, 'the release before'))] : figures;
  } finally {
    await Promise.all([server.end(), before?.end()]);
  }
}

async function compared(ours: Side, baseline: Side, name: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, prepare] of writes) {
    const calls = async ({ pid, api, projectID }: Side) => {
      const write = await prepare(api, projectID);
      return { pid, work: () => assertAccepted(write()) };
    };
    const sides = { ours: await calls(ours), baseline: await calls(baseline) };
    const times = await comparedCalls(sides, { rounds, calls: perRound, callers });
    const label = `${what}, against ${name}`;
    figures.push(
      figure(`${label}, time of a call by ${callers}`, 'ms', 1000 / times.ours.rate, 1000 / times.baseline.rate, goal),
      figure(`${label}, median`, 'ms', times.ours.ms, times.baseline.ms, 'for information'),
      figure(`${label}, processor time`, 'ms', times.ours.processor, times.baseline.processor, 'for information'),
    );
  }
  return figures;
}

/** Starts the API of another checkout on the same servers, with a database, a workspace and a task queue of its own. */
async function startRelease(bench: BenchEnvironment, root: string): Promise<{ side: Side; end(): Promise<unknown> }> {
  const { env } = bench;
  const dataDir = `${env.DATA_DIR ?? ''}-before`;
  const database = new URL(env.MONGODB_URI ?? '');
  database.pathname = '/before';
  const own = {
    DATA_DIR: dataDir,
    SEED: 'true',
    MONGODB_URI: String(database),
    TEMPORAL_TASK_QUEUE: `before-${newId()}`,
  };
  const api = await startScript('src/main.js', { ...env, ...own }, logFile(bench, 'before'), 'listening', root);
  const workspace = await eventually(async () => {
    const seeded = await readWorkspace(dataDir);
    if (!seeded) throw new Error(`The API of ${root} did not seed a workspace in ${dataDir}.`);
    return seeded;
  }).catch(async (error: unknown) => {
    await api.end();
    throw error;
  });
  const client = apiClient(`http://127.0.0.1:${Number(api.up.port)}`, { 'x-api-key': workspace.api_key });
  return { side: { pid: api.child.pid ?? 0, api: client, projectID: workspace.project_id }, end: () => api.end() };
}

/** A file in the folder of this benchmark run, which is deleted at its end. */
const logFile = ({ env }: BenchEnvironment, name: string) =>
  path.join(path.dirname(env.DATA_DIR ?? ''), `${name}-writes.log`);

const goal = 'at most 1.25';

const agentflow = {
  name: 'bench',
  agents: [{ _id: 'a', title: 'A', role: 'r', role_description: 'd', prompt: { template: 'x' }, skills: [] }],
};

const skill = {
  name: 'Look up',
  initial_action_id: 'a',
  actions: [
    { _id: 'a', name: 'A', category: 'restful', method: 'GET', endpoint: 'https://example.com', is_terminal: true },
  ],
};

/** Throws for a refused write, because it would count as a fast one. */
async function assertAccepted(answer: Promise<Answer>): Promise<void> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`a write was answered with ${status}: ${JSON.stringify(body)}`);
}
