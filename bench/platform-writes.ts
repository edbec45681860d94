import { newId } from '../src/ids.js';
import { apiClient, type Answer, type ApiClient } from '../test/support/client.js';
import { startScript } from '../test/support/processes.js';
import { comparedCalls } from './calls.js';
import type { BenchEnvironment } from './environment.js';
import { figure, type Figure } from './measure.js';

const callers = 16;
const perRound = 400;
const rounds = 5;

/**
 * Compares platform writes through the operation kernel with the same routes without it (issue 14: at most 1.25 times).
 */
export async function benchPlatformWrites(bench: BenchEnvironment): Promise<Figure[]> {
  const { apiKey, projectID } = await bench.workspace();
  const server = await startScript(
    'bench/bare/write-server.js',
    bench.env,
    `/tmp/bench-writes-${newId()}.log`,
    'listening',
  );
  const key = { 'x-api-key': apiKey };
  const [governed, bare] = [
    apiClient(bench.api.url, key),
    apiClient(`http://127.0.0.1:${Number(server.up.port)}`, key),
  ];
  const agentflow = {
    name: 'bench',
    agents: [{ _id: 'a', title: 'A', role: 'r', role_description: 'd', prompt: { template: 'x' }, skills: [] }],
  };
  const { body } = await governed.post(`/agentflow?projectID=${projectID}`, agentflow);
  const table = (await governed.post(`/storage/${projectID}/table`, { table_name: 'bench' })).body._id as string;
  const writes: [string, (api: ApiClient) => Promise<Answer>][] = [
    [
      'prepare an execution',
      (api) => api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: body._id, goal: 'x' }),
    ],
    ['make a skill', (api) => api.post(`/skill?projectID=${projectID}`, skill)],
    ['add a row (not recorded)', (api) => api.post(`/storage/${projectID}/table/${table}/row`, {})],
  ];
  try {
    const figures: Figure[] = [];
    for (const [what, write] of writes) {
      const sides = {
        ours: { pid: bench.api.child.pid ?? 0, work: () => assertAccepted(write(governed)) },
        baseline: { pid: server.child.pid ?? 0, work: () => assertAccepted(write(bare)) },
      };
      const { ours, baseline } = await comparedCalls(sides, { rounds, calls: perRound, callers });
      figures.push(
        figure(`${what}, time of a call by ${callers}`, 'ms', 1000 / ours.rate, 1000 / baseline.rate, 'at most 1.25'),
        figure(`${what}, median`, 'ms', ours.ms, baseline.ms, 'for information'),
        figure(`${what}, processor time`, 'ms', ours.processor, baseline.processor, 'for information'),
      );
    }
    return figures;
  } finally {
    await server.end();
  }
}

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
