import { newId } from '../src/ids.js';
import { createApiKey } from '../src/auth/api-keys.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { startScript } from '../test/support/processes.js';
import { processorMs, type BenchEnvironment } from './environment.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 16;
const perRound = 1000;
const rounds = 3;

/**
 * Compares a governed query with a bare route that makes the same driver call (issue 15: at least 0.75 of the rate; at
 * most 3 ms more for one caller).
 */
export async function benchGateway(bench: BenchEnvironment): Promise<Figure[]> {
  const { apiKey, projectID } = await bench.workspace();
  const gateway = apiClient(bench.api.url, { authorization: `Bearer ${apiKey}` });
  await gateway.post('/v1/save-context', { source: 'bench', ...graphOf(50) });
  const server = await startScript(
    'bench/bare/query-server.js',
    bench.env,
    `/tmp/bench-bare-${newId()}.log`,
    'listening',
  );
  const bare = apiClient(`http://127.0.0.1:${Number(server.up.port)}`);
  const query = 'MATCH (c:Customer)-[b:BOUGHT]->(p:Product) WHERE c.project_id = $project_id RETURN c, b, p LIMIT 10';
  const governed = { pid: bench.api.child.pid ?? 0, work: () => gateway.post('/v1/query-context', { query }) };
  const params = { project_id: projectID };
  const direct = { pid: server.child.pid ?? 0, work: () => bare.post('/query', { query, params }) };
  try {
    const parallel = await alternated(governed, direct, callers);
    const single = await alternated(governed, direct, 1);
    const refused = await refusals(bench, gateway);
    const governedMs = parallel[0].ms;
    return [
      figure('governed query, throughput', '1/s', parallel[0].rate, parallel[1].rate, 'at least 0.75'),
      figure('governed query, median', 'ms', governedMs, parallel[1].ms, 'for information'),
      figure('governed query, processor time', 'ms', parallel[0].processor, parallel[1].processor, 'for information'),
      figure('governed query, one caller, median', 'ms', single[0].ms, single[1].ms, 'at most 3 ms more'),
      figure(
        'refused at authentication, against a governed query',
        'ms',
        refused.authentication,
        governedMs,
        'at most 0.33',
      ),
      figure('refused at scope, against a governed query', 'ms', refused.scope, governedMs, 'at most 0.33'),
      figure('refused at quota, against a governed query', 'ms', refused.quota, governedMs, 'at most 0.2'),
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
    relationships: range(size).map((at) => ({
      from: `c${at}`,
      type: 'BOUGHT',
      to: `p${at}`,
      properties: { pieces: at },
    })),
  };
}

interface Side {
  pid: number;
  work: () => Promise<unknown>;
}

interface Measured {
  /** The median of the rounds. */
  rate: number;
  /** The median of the calls. */
  ms: number;
  /** The processor time of the process per call, in milliseconds. */
  processor: number;
}

/** Measures alternating rounds of the two after a warm-up. */
async function alternated(ours: Side, baseline: Side, callers: number): Promise<[Measured, Measured]> {
  const size = callers === 1 ? perRound / 5 : perRound;
  const sides = [ours, baseline].map((side) => ({ ...side, times: [] as number[], rates: [] as number[], used: 0 }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of sides) {
      const times: number[] = [];
      const before = processorMs(side.pid);
      const ms = await timed(() =>
        inParallel(range(size), callers, async () => void times.push(await timed(side.work))),
      );
      if (round === 0) continue;
      side.times.push(...times);
      side.rates.push((size / ms) * 1000);
      side.used += processorMs(side.pid) - before;
    }
  }
  const [first, second] = sides.map(({ times, rates, used }) => ({
    rate: median(rates),
    ms: median(times),
    processor: used / times.length,
  }));
  if (!first || !second) throw new Error('two sides were measured');
  return [first, second];
}

async function refusals(bench: BenchEnvironment, gateway: ApiClient) {
  const reader = await keyWith(bench, ['svc:docs.read']);
  const full = await keyWith(bench, ['svc:query.read']);
  const body = { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n' };
  /** Returns the median of the second of two rounds, because the API with the full quota is a new process. */
  const measure = async (client: ApiClient) => {
    let times: number[] = [];
    for (const _round of range(2)) {
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
