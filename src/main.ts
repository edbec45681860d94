import { collections } from './collections.js';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createApp } from './app.js';
import { startDownstream, type DownstreamListener } from './surfaces/callbacks/downstream/listener.js';
import { loadConfig } from './config.js';
import { countInUtc } from './base/time.js';
import { createDeps } from './deps.js';
import { type Deps } from './domain/deps.js';
import { moveTokens } from './governance/approvals/earlier-records.js';
import { sweepApprovals } from './governance/approvals/sweep.js';
import { sweepIntents } from './governance/sweep.js';
import { createExpressServer } from './http/express-server.js';
import { warmUpGuard } from './graph/query/as-of.js';
import { prepareGraph } from './graph/store/schema.js';
import type { Condition, Indexes } from './surfaces/operation/health.js';
import { createOpenExecutionCounter } from './observability/open-executions.js';
import { checkEmbedder } from './models/check-embedder.js';
import { packageRoot } from './base/packages.js';
import { onShutdown } from './shutdown.js';
import { createRunTurns } from './domain/run-turns/create-run-turns.js';
import { createHoldSweep } from './domain/executions/hold-sweep.js';
import { createReconciler } from './domain/executions/reconcile.js';
import { publishWhatRuns } from './domain/releases/operations/upgrade.js';
import { createRetentionSweep } from './domain/executions/retention.js';
import { prepare } from './prepare.js';
import { regularly } from './base/async.js';
import { addressesOf, seed } from './domain/workspace/seed.js';
import { buildOtherIndexes, buildUniqueIndexes } from './stores/collections.js';
import { refusalOf } from './temporal/refusal.js';

const drainMs = 10_000;
/** Fits a request target with the longest filter and cursor, percent-encoded. */
const maxHeaderSize = 64 * 1024;

/** Starts the API process. On SIGTERM, stops it in reverse order. */
export async function main(): Promise<void> {
  countInUtc(process.env);
  const config = loadConfig(process.env);
  const deps = createDeps(config, 'api');
  deps.metrics.collectProcess();
  deps.metrics.openExecutions(createOpenExecutionCounter(deps.mongo.collections));
  if (config.environment === 'production' && !config.baseUrl?.startsWith('https:')) {
    deps.log.warn(
      { baseUrl: config.baseUrl },
      'BASE_URL is not an https address: passwords and tokens cross the network unencrypted unless a proxy in front of this process encrypts them',
    );
  }
  let condition: Condition = 'preparing';
  let indexes: Indexes = 'building';
  let baseUrl = config.baseUrl ?? '';
  const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  const downstream = config.surfaces.includes('callbacks') ? await startDownstream(deps) : undefined;
  const app = createApp(deps, {
    baseUrl: () => baseUrl,
    condition: () => condition,
    indexes: () => indexes,
    version,
    ...(downstream && { downstreamUrl: downstream.url }),
  });

  const server = createExpressServer(app, { maxHeaderSize });
  server.listen(config.port, config.host, () => {
    const { port } = server.address() as AddressInfo;
    baseUrl ||= `http://localhost:${port}`;
    deps.log.info({ port, surfaces: config.surfaces, baseUrl, downstreamUrl: downstream?.url() }, 'listening');
    const steps = [
      { name: 'query guard', run: warmUpGuard },
      { name: 'record store', run: () => deps.mongo.withoutTimeLimit(buildUniqueIndexes(collections)) },
      // Before the first organization, which distinguishes a new installation from an upgraded one.
      { name: 'trust in payloads', run: deps.temporal.trust.begin },
      { name: 'releases', run: () => publishWhatRuns(deps) },
      { name: 'seed', run: () => seed(deps, addressesOf(config, baseUrl, downstream?.port)) },
      { name: 'context graph', run: () => prepareGraph(deps.graph) },
      { name: 'broken uploads', run: () => deps.files.sweep() },
    ];
    regularly({ everyMs: 5 * 60_000, failed: 'incomplete uploads could not be removed', run: deps.files.sweep }, deps);
    const calls = { ...deps.mongo, ...deps.governance, log: deps.log };
    regularly(
      { everyMs: 30_000, failed: 'interrupted calls could not be ended', run: () => sweepIntents(calls) },
      deps,
    );
    const runs = { ...calls, temporal: deps.temporal };
    regularly({ everyMs: 30_000, failed: 'due approvals could not go on', run: () => sweepApprovals(runs) }, deps);
    regularly({ everyMs: 30_000, failed: 'tokens could not be moved', run: () => moveTokens(runs.collections) }, deps);
    regularly(
      { everyMs: 5000, failed: 'runs of people without a role could not be held', run: createHoldSweep(runs) },
      deps,
    );
    const { sweep } = createRunTurns(runs);
    regularly({ everyMs: 5000, failed: 'turns of runs could not be given', run: sweep }, deps);
    regularly({ everyMs: 60_000, failed: 'ended runs could not be reconciled', run: createReconciler(deps) }, deps);
    regularly(
      {
        everyMs: 60_000,
        failed: 'old executions could not be deleted',
        run: createRetentionSweep({ ...deps, ...deps.governance }),
      },
      deps,
    );
    // Prepare in parallel, so that the log immediately shows why Temporal is unavailable. Readiness checks it
    // separately.
    void prepare(deps, [{ name: 'workflow service', run: () => reachTemporal(deps) }]);
    void checkEmbedder(deps);
    void prepare(deps, steps)
      .then(() => {
        if (condition === 'preparing') condition = 'serving';
        // Building an index of a large collection can take hours. The process serves requests in the meantime.
        return prepare(deps, [
          { name: 'indexes', run: () => deps.mongo.withoutTimeLimit(buildOtherIndexes(collections)) },
        ]);
      })
      .then(() => (indexes = 'built'));
  });
  // Exceeds the idle timeout of common load balancers, so that they close idle connections first.
  server.keepAliveTimeout = 65_000;
  onShutdown(deps.log, async () => {
    condition = 'draining';
    await drain(server, deps, downstream);
  });
}

async function reachTemporal({ config, temporal }: Deps): Promise<void> {
  await temporal.ping().catch((error: unknown) => {
    throw new Error(refusalOf(error, config.temporal.connection) ?? 'the workflow service does not answer', {
      cause: error,
    });
  });
}

/** Stops accepting connections, waits for running requests, and closes the remaining connections after the deadline. */
async function drain(server: Server, deps: Deps, downstream: DownstreamListener | undefined): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  deps.stopping.abort();
  await closed;
  clearTimeout(cut);
  // Close it after the receivers, which forward to it.
  await downstream?.close();
  await deps.close();
}
