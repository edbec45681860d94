import { setTimeout as delay } from 'node:timers/promises';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  TransportError,
  Worker,
  makeTelemetryFilterString,
} from '@temporalio/worker';
import { collections } from './collections.js';
import { createActivities } from '../activities/index.js';
import { sharedAmongOrganizations } from '../activities/shares.js';
import { loadConfig } from './config.js';
import { countInUtc } from './base/time.js';
import { createDeps } from './deps.js';
import { type Deps } from './domain/deps.js';
import { createExchanges } from './domain/executions/exchanges.js';
import { createEmbeddingSweep } from './domain/embedding/sweep.js';
import { createRevocationSweep } from './domain/mcp-servers/operations/revoke.js';
import { createMemorySweep } from './domain/memories/sweep.js';
import { publishWhatRuns } from './domain/releases/operations/upgrade.js';
import { createTextIndexSweep } from './domain/text-index/sweep.js';
import { checkEmbedder } from './models/check-embedder.js';
import { buildUniqueIndexes } from './stores/collections.js';
import { startWorkerMetrics } from './observability/worker-metrics.js';
import { workerTracing } from './observability/temporal-spans.js';
import { prepare } from './prepare.js';
import { regularly } from './base/async.js';
import { onShutdown } from './shutdown.js';
import { refusalOf } from './temporal/refusal.js';
import { trustedActivities } from './temporal/trusted-activities.js';
import { queueWorkers, workerTuning } from './temporal/worker-options.js';
import { workflowBundle } from './workflow-code.js';

/** The maximum time until the embedding of saved elements begins. */
const embeddingSweepMs = 2000;
const textIndexSweepMs = 2000;
const revocationSweepMs = 5000;
const memorySweepMs = 10_000;

/** The worker process: one SDK worker for each of its task queues, over one connection. */
export async function main(): Promise<void> {
  countInUtc(process.env);
  const config = loadConfig(process.env);
  const deps = createDeps(config, 'worker');
  const exchanges = createExchanges({ collections: deps.mongo.collections, secrets: deps.auth.box });
  const metrics = await startWorkerMetrics(config, deps.metrics);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metrics && { metrics: metrics.ofSdk }),
    },
    logger: temporalLogger(deps),
  });
  // Encrypted payloads cannot be compressed: trying to takes processor time here and in Temporal.
  const options = { ...config.temporal.connection, grpcCompression: { codec: 'none' } } as const;
  const connection = await whenTemporalAnswers(deps, () => NativeConnection.connect(options));
  await prepare(deps, [
    // Workers are upgraded first, so they can be the first processes that need them.
    { name: 'record store', run: () => deps.mongo.withoutTimeLimit(buildUniqueIndexes(collections)) },
    { name: 'trust in payloads', run: deps.temporal.trust.begin },
    { name: 'releases', run: () => publishWhatRuns(deps) },
  ]);
  const queues = queueWorkers(config.worker, config.temporal.taskQueue);
  const shared = {
    connection,
    namespace: config.temporal.namespace,
    activities: createActivities(deps, exchanges),
    dataConverter: deps.temporal.workerDataConverter,
    // Running activities have this time to finish. Then they are cancelled, and Temporal schedules another attempt.
    shutdownGraceTime: '10s',
  } as const;
  const tracing = workerTracing(deps.tracing);
  const create = (queue: (typeof queues)[number]) =>
    Worker.create({
      ...shared,
      sinks: tracing.sinks,
      interceptors: {
        activity: [
          ...tracing.activity,
          trustedActivities(),
          sharedAmongOrganizations(config.worker, deps.temporal.organizationOf),
        ],
      },
      taskQueue: queue.taskQueue,
      ...(queue.runsWorkflows && { workflowBundle }),
      ...workerTuning(config.worker, queue),
    });
  const workers = await Promise.all(queues.map((queue) => whenTemporalAnswers(deps, () => create(queue))));
  const stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  // If one worker fails, the others stop too, so that the process ends and is restarted.
  const run = Promise.all(workers.map((worker) => worker.run().finally(stop)));
  deps.log.info(
    {
      taskQueues: queues.map(({ taskQueue }) => taskQueue),
      version: config.worker.version,
      metricsPort: metrics?.port,
    },
    'polling',
  );
  const asWorker = Object.entries(config.mcpStdio.commands).filter(([, { user }]) => !user);
  if (asWorker.length > 0)
    deps.log.warn(
      { commands: asWorker.map(([name]) => name) },
      'these commands of MCP_STDIO_COMMANDS run as the user of the worker: they can read its environment and its files',
    );
  if (config.worker.queues.includes('bulk')) startSweeps(deps);
  onShutdown(deps.log, async () => {
    deps.stopping.abort();
    stop();
    await run;
    await exchanges.flush();
    await connection.close();
    await metrics?.close();
    await deps.close();
  });
  await run;
}

/** Starts the sweeps that look for work in the stores. */
function startSweeps(deps: Deps): void {
  regularly(
    { everyMs: textIndexSweepMs, failed: 'changed languages could not be found', run: createTextIndexSweep(deps) },
    deps,
  );
  regularly(
    {
      everyMs: revocationSweepMs,
      failed: 'tokens of MCP servers could not be revoked',
      run: createRevocationSweep(deps),
    },
    deps,
  );
  regularly({ everyMs: memorySweepMs, failed: 'memories could not be started', run: createMemorySweep(deps) }, deps);
  if (!deps.config.embedding) return;
  void checkEmbedder(deps);
  regularly(
    { everyMs: embeddingSweepMs, failed: 'what is not embedded could not be found', run: createEmbeddingSweep(deps) },
    deps,
  );
}

/** Repeats `work`, because a worker may start before the server. Ends the process if waiting cannot help. */
async function whenTemporalAnswers<T>({ config, log, stopping }: Deps, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const refusal = refusalOf(error, config.temporal.connection);
      if (refusal !== undefined) {
        log.fatal({ err: error }, refusal);
        process.exit(1);
      }
      if (!(error instanceof TransportError)) throw error;
      log.warn({ err: error }, 'the workflow service is not ready yet');
      await delay(1000, undefined, { signal: stopping.signal });
    }
  }
}

function temporalLogger({ log }: Deps) {
  const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  return new DefaultLogger('TRACE', ({ level, message, meta }) => log[write[level]](meta ?? {}, message));
}
