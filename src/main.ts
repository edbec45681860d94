import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createApp } from './app.js';
import { startDownstream, type DownstreamListener } from './callbacks/downstream/listener.js';
import { loadConfig } from './config.js';
import { createDeps, type Deps } from './deps.js';
import { sweepRegularly } from './files/end-of-life.js';
import { prepareGraph } from './graph/store/schema.js';
import type { Condition } from './operation/health.js';
import { createOpenExecutionCounter } from './observability/open-executions.js';
import { packageRoot } from './package-root.js';
import { onShutdown } from './shutdown.js';
import { prepare } from './prepare.js';
import { addressesOf, seed } from './seed.js';
import { prepareMongo } from './stores/mongo.js';
import { refusalOf } from './temporal/refusal.js';

const drainMs = 10_000;
/** The longest filter and cursor, percent-encoded, in one request target. */
const maxHeaderSize = 64 * 1024;

/** The API process: config, dependencies, app, listen; closes in reverse on SIGTERM. */
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const deps = createDeps(config, 'api');
  deps.metrics.collectProcess();
  deps.metrics.openExecutions(createOpenExecutionCounter(deps.mongo.collections));
  let condition: Condition = 'preparing';
  let baseUrl = config.baseUrl ?? '';
  const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  const downstream = config.surfaces.includes('callbacks') ? await startDownstream(deps) : undefined;
  const app = createApp(deps, { baseUrl: () => baseUrl, condition: () => condition, version, ...(downstream && { downstreamUrl: downstream.url }) });

  const server = createServer({ maxHeaderSize }, app);
  server.listen(config.port, config.host, () => {
    const { port } = server.address() as AddressInfo;
    baseUrl ||= `http://localhost:${port}`;
    deps.log.info({ port, surfaces: config.surfaces, baseUrl, downstreamUrl: downstream?.url() }, 'listening');
    const steps = [
      { name: 'record store', run: () => prepareMongo(deps.mongo) },
      { name: 'seed', run: () => seed(deps, addressesOf(config, baseUrl)) },
      { name: 'context graph', run: () => prepareGraph(deps.graph) },
      { name: 'broken uploads', run: () => deps.files.sweep() },
    ];
    sweepRegularly(deps.files.sweep, deps);
    // Beside the others, so that the log says at once why there is no Temporal; readiness asks it anyway.
    void prepare(deps, [{ name: 'workflow service', run: () => reachTemporal(deps) }]);
    void prepare(deps, steps).then(() => {
      if (condition === 'preparing') condition = 'serving';
    });
  });
  // Longer than the idle time of common load balancers, so that it is they who close a connection.
  server.keepAliveTimeout = 65_000;
  onShutdown(deps.log, async () => {
    condition = 'draining';
    await drain(server, deps, downstream);
  });
}

async function reachTemporal({ config, temporal }: Deps): Promise<void> {
  await temporal.ping().catch((error: unknown) => {
    throw new Error(refusalOf(error, config.temporal.connection) ?? 'the workflow service does not answer', { cause: error });
  });
}

/** Stops taking connections, lets requests in flight finish, and cuts what is left after the deadline. */
async function drain(server: Server, deps: Deps, downstream: DownstreamListener | undefined): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  deps.stopping.abort();
  await closed;
  clearTimeout(cut);
  // After the receivers, which hand over to it.
  await downstream?.close();
  await deps.close();
}

await main();
