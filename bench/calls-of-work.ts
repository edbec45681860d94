import { createServer, connect, type Server } from 'node:net';
import path from 'node:path';
import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { newId } from '../src/base/ids.js';
import { apiClient } from '../test/support/client.js';
import { flowThatCalls } from '../test/support/flows.js';
import { startHttpSink } from '../test/support/http-sink.js';
import { commandOf, onMessages } from '../test/support/mongo-wire.js';
import { listen } from '../test/support/ports.js';
import { startApi, startWorker } from '../test/support/processes.js';
import type { BenchEnvironment } from './environment.js';
import { awaitedRuns } from './executions.js';
import { purchases, purchasesQuery } from './gateway.js';
import { range, type Figure } from './measure.js';

const repeats = 20;

/**
 * Prints the commands to MongoDB, the requests to Temporal and the bytes of encrypted payloads in the history for a run of two
 * agents, for each of 10 more acts in a run, and for a governed query. Counts what an API and a worker of their own send.
 */
export async function benchCallsOfWork(bench: BenchEnvironment): Promise<Figure[]> {
  const commands = await countCommands(bench.env.MONGODB_URI ?? '');
  const folder = path.dirname(bench.env.DATA_DIR ?? '');
  const env = { ...bench.env, MONGODB_URI: commands.uri, TEMPORAL_TASK_QUEUE: `counted-${newId()}` };
  const processes = await Promise.all([
    startApi(env, path.join(folder, 'counted-api.log')),
    startWorker(env, path.join(folder, 'counted-worker.log')),
  ]);
  const sink = await startHttpSink();
  try {
    const { projectID, apiKey } = await bench.person();
    const api = apiClient(processes[0].url, { 'x-api-key': apiKey });
    const gateway = apiClient(processes[0].url, { authorization: `Bearer ${apiKey}` });
    const runsOf = (flow: object) => awaitedRuns(api, projectID, flow);
    await gateway.post('/v1/save-context', purchases(50));
    const query = () => gateway.post('/v1/query-context', { query: purchasesQuery });
    const works = {
      'a run of two agents': await runsOf(flowThatCalls([], [])),
      'a run of one act': await runsOf(flowThatCalls([sink.url])),
      'a run of 11 acts': await runsOf(flowThatCalls(range(11).map(() => sink.url))),
      'a governed query': query,
    };
    for (const [what, work] of Object.entries(works)) await countOf(bench, commands, what, work);
  } finally {
    await Promise.all(processes.map((process) => process.end()));
    await sink.close();
    commands.server.close();
  }
  return [];
}

async function countOf(
  bench: BenchEnvironment,
  commands: Awaited<ReturnType<typeof countCommands>>,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> {
  for (const _warmUp of range(5)) await work();
  commands.counts.clear();
  const before = await requestsToTemporal(bench);
  let last: unknown;
  for (const _repeat of range(repeats)) last = await work();
  const after = await requestsToTemporal(bench);
  const requests = [...after].map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)]);
  print(`${what}, commands to MongoDB`, [...commands.counts]);
  print(`${what}, requests to Temporal`, requests);
  if (typeof last !== 'string') return;
  const history = await bench.deps.temporal.client.workflow.getHandle(executionWorkflowId(last)).fetchHistory();
  const bytes = JSON.stringify(history, (key, value: unknown) => (key === 'data' ? encoded(value) : value));
  const payloads = [...bytes.matchAll(/"data":"([^"]*)"/g)].reduce((sum, [, data = '']) => sum + data.length * 0.75, 0);
  console.error(`${what}: ${history.events?.length} events, ${Math.round(payloads)} bytes of payloads`);
}

function encoded(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

function print(what: string, counts: readonly [string, number][]): void {
  const shown = counts
    .map(([name, count]) => ({ name, each: count / repeats }))
    .filter(({ each }) => each >= 0.1)
    .sort((a, b) => b.each - a.each);
  const total = shown.reduce((sum, { each }) => sum + each, 0);
  console.error(`${what}: ${total.toFixed(1)}`);
  for (const { name, each } of shown) console.error(`  ${each.toFixed(1)} ${name}`);
}

/** Returns the requests that Temporal's frontend has served, by operation. */
async function requestsToTemporal({ env }: BenchEnvironment): Promise<Map<string, number>> {
  const target = env.PROTECTED_TARGETS?.split(',').at(-1) ?? '';
  const text = await (await fetch(`http://${target}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^service_requests\{([^}]*)\} (\S+)$/gm)) {
    const operation = /operation="([^"]*)"/.exec(labels)?.[1] ?? '';
    if (!labels.includes('service_name="frontend"')) continue;
    counts.set(operation, (counts.get(operation) ?? 0) + Number(value));
  }
  return counts;
}

/** Starts a server that passes everything on to MongoDB, and counts the commands by name and collection. */
async function countCommands(uri: string): Promise<{ uri: string; counts: Map<string, number>; server: Server }> {
  const { hostname, port } = new URL(uri);
  const counts = new Map<string, number>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    onMessages(client, (message) => {
      const command = commandOf(message);
      if (!command) return;
      const name = `${command.name} ${command.collection}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    });
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  const counting = await listen(server);
  return { uri: uri.replace(`:${port}`, `:${counting.port}`), counts, server };
}
