import { newId } from '../src/ids.js';
import { createApiKey } from '../src/auth/api-keys.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { startScript } from '../test/support/processes.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 16;
const perRound = 1000;
const rounds = 3;

/** A governed query against a bare route with the same driver call (issue: at least 0.6 of it, median at most 5 ms more). */
export async function benchGateway(bench: BenchEnvironment): Promise<Figure[]> {
  const { apiKey, projectID } = await bench.workspace();
  const gateway = apiClient(bench.api.url, { authorization: `Bearer ${apiKey}` });
  await gateway.post('/v1/save-context', { source: 'bench', ...graphOf(50) });
  const server = await startScript('bench/bare/query-server.js', bench.env, `/tmp/bench-bare-${newId()}.log`, 'listening');
  const bare = apiClient(`http://127.0.0.1:${Number(server.up.port)}`);
  const query = 'MATCH (c:Customer)-[b:BOUGHT]->(p:Product) WHERE c.project_id = $project_id RETURN c, b, p LIMIT 10';
  const governed = () => gateway.post('/v1/query-context', { query });
  const direct = () => bare.post('/query', { query, params: { project_id: projectID } });
  try {
    const ours = await alternated(governed, direct);
    const refused = await refusals(bench, gateway);
    const governedMs = median(ours.first);
    return [
      figure('governed query, throughput', '1/s', ours.rates.first, ours.rates.second, 'at least 0.6'),
      figure('governed query, median', 'ms', governedMs, median(ours.second), 'at most 5 ms more'),
      figure('refused at authentication, against a governed query', 'ms', refused.authentication, governedMs, 'at most 0.33'),
      figure('refused at scope, against a governed query', 'ms', refused.scope, governedMs, 'at most 0.33'),
      figure('refused at quota, against a governed query', 'ms', refused.quota, governedMs, 'at most 0.33'),
    ];
  } finally {
    await server.end();
  }
}

function graphOf(size: number) {
  return {
    entities: range(size).flatMap((at) => [
      { id: `c${at}`, type: 'Customer', name: `Customer ${at}`, properties: { city: 'Oslo', since: 2000 + at } },
      { id: `p${at}`, type: 'Product', name: `Product ${at}`, properties: { price: at } },
    ]),
    relationships: range(size).map((at) => ({ from: `c${at}`, type: 'BOUGHT', to: `p${at}`, properties: { pieces: at } })),
  };
}

/** Rounds of the two in turn after a warm-up; times of single calls, and the median rate of a round. */
async function alternated(one: () => Promise<unknown>, other: () => Promise<unknown>) {
  const run = async (work: () => Promise<unknown>, times: number[]) => {
    const ms = await timed(() => inParallel(range(perRound), callers, async () => void times.push(await timed(work))));
    return (perRound / ms) * 1000;
  };
  await run(one, []);
  await run(other, []);
  const first: number[] = [];
  const second: number[] = [];
  const rates: { first: number; second: number }[] = [];
  for (let round = 0; round < rounds; round += 1) rates.push({ first: await run(one, first), second: await run(other, second) });
  return { first, second, rates: { first: median(rates.map((rate) => rate.first)), second: median(rates.map((rate) => rate.second)) } };
}

async function refusals(bench: BenchEnvironment, gateway: ApiClient) {
  const reader = await keyWith(bench, ['svc:docs.read']);
  const full = await keyWith(bench, ['svc:query.read']);
  const body = { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n' };
  const measure = async (client: ApiClient) => {
    const times: number[] = [];
    await inParallel(range(perRound), callers, async () => void times.push(await timed(() => client.post('/v1/query-context', body))));
    return median(times);
  };
  const limited = await bench.limitedApi();
  const overQuota = apiClient(limited.url, { authorization: `Bearer ${full.secret}` });
  for (let call = 0; call < 3; call += 1) await overQuota.post('/v1/query-context', body);
  return {
    authentication: await measure(apiClient(gateway.url, { authorization: `Bearer svc_sk_${'A'.repeat(43)}` })),
    scope: await measure(apiClient(gateway.url, { authorization: `Bearer ${reader.secret}` })),
    quota: await measure(overQuota),
  };
}

async function keyWith({ deps }: BenchEnvironment, grants: ('svc:docs.read' | 'svc:query.read')[]) {
  const [org_id, dept_id, project_id, user_id] = [newId(), newId(), newId(), newId()];
  const scope = { org_id, dept_id, project_id, user_id, role: 'OWNER', grants };
  const { secret } = await createApiKey(deps.mongo.collections, { name: 'bench', createdBy: user_id, scope });
  return { secret };
}
