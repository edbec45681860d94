import { newId } from '../src/base/ids.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { startScript } from '../test/support/processes.js';
import { comparedCalls } from './calls.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 16;
const perRound = 1000;
const rounds = 3;

export const purchasesQuery =
  'MATCH (c:Customer)-[b:BOUGHT]->(p:Product) WHERE c.project_id = $project_id RETURN c, b, p LIMIT 10';

/**
 * Compares a governed query with a bare route that makes the same driver call (goal: at least 0.75 of the rate; at
 * most 3 ms more for one caller).
 */
export async function benchGateway(bench: BenchEnvironment): Promise<Figure[]> {
  const { apiKey, projectID } = await bench.workspace();
  const gateway = apiClient(bench.api.url, { authorization: `Bearer ${apiKey}` });
  await gateway.post('/v1/save-context', purchases(50));
  const server = await startScript(
    'bench/bare/query-server.js',
    bench.env,
    `/tmp/bench-bare-${newId()}.log`,
    'listening',
  );
  const bare = apiClient(`http://127.0.0.1:${Number(server.up.port)}`);
  const params = { project_id: projectID };
  const sides = {
    ours: { pid: bench.api.child.pid ?? 0, work: () => gateway.post('/v1/query-context', { query: purchasesQuery }) },
    baseline: { pid: server.child.pid ?? 0, work: () => bare.post('/query', { query: purchasesQuery, params }) },
  };
  try {
    const { ours, baseline } = await comparedCalls(sides, { rounds, calls: perRound, callers });
    const single = await comparedCalls(sides, { rounds, calls: perRound / 5, callers: 1 });
    const refused = await refusals(bench, gateway);
    const refusal = (stage: keyof typeof refused, goal: string) =>
      figure(`refused at ${stage}, against a governed query`, 'ms', refused[stage], ours.ms, goal);
    return [
      figure('governed query, throughput', '1/s', ours.rate, baseline.rate, 'at least 0.75'),
      figure('governed query, median', 'ms', ours.ms, baseline.ms, 'for information'),
      figure('governed query, processor time', 'ms', ours.processor, baseline.processor, 'for information'),
      figure('governed query, one caller, median', 'ms', single.ours.ms, single.baseline.ms, 'at most 3 ms more'),
      refusal('authentication', 'at most 0.33'),
      refusal('scope', 'at most 0.33'),
      refusal('quota', 'at most 0.2'),
    ];
  } finally {
    await server.end();
  }
}

/** The body of a save of this many customers, products and purchases. */
export function purchases(size: number) {
  return {
    source: 'bench',
    entities: range(size).flatMap((at) => [
      { id: `c${at}`, type: 'Customer', name: `Customer ${at}`, properties: { city: 'Oslo', since: 2000 + at } },
      { id: `p${at}`, type: 'Product', name: `Product ${at}`, properties: { price: at } },
    ]),
    relationships: range(size).map((at) => ({
      from: `c${at}`,
      type: 'BOUGHT',
      to: `p${at}`,
      properties: { pieces: at },
    })),
  };
}

async function refusals(bench: BenchEnvironment, gateway: ApiClient) {
  const reader = await bench.workspace(['svc:docs.read']);
  const full = await bench.workspace(['svc:query.read']);
  const body = { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n' };
  /**
   * Returns the median of the last round. The API with the full quota is a new process, and has to be as warm as the one
   * that answered the queries.
   */
  const measure = async (client: ApiClient) => {
    let times: number[] = [];
    for (const _round of range(6)) {
      times = [];
      await inParallel(
        range(perRound),
        callers,
        async () => void times.push(await timed(() => client.post('/v1/query-context', body))),
      );
    }
    return median(times);
  };
  const limited = await bench.limitedApi();
  const overQuota = apiClient(limited.url, { authorization: `Bearer ${full.apiKey}` });
  for (let call = 0; call < 3; call += 1) await overQuota.post('/v1/query-context', body);
  return {
    authentication: await measure(apiClient(gateway.url, { authorization: `Bearer svc_sk_${'A'.repeat(43)}` })),
    scope: await measure(apiClient(gateway.url, { authorization: `Bearer ${reader.apiKey}` })),
    quota: await measure(overQuota),
  };
}
