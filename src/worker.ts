import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import { loadConfig } from './config.js';
import { createDeps, type Deps } from './deps.js';
import { startWorkerMetrics } from './observability/worker-metrics.js';
import { workerTracing } from './observability/temporal-spans.js';
import { onShutdown } from './shutdown.js';
import { refusalOf } from './temporal/refusal.js';
import { workerTuning } from './temporal/worker-options.js';
import { workflowBundle } from './workflow-code.js';

/** The worker process: the same config and dependencies, activities, `Worker.run()`. */
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const deps = createDeps(config, 'worker');
  const metrics = await startWorkerMetrics(config, deps.metrics);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metrics && { metrics: metrics.ofSdk }),
    },
    logger: temporalLogger(deps),
  });
  const connection = await connect(deps);
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle,
    activities: createActivities(deps),
    dataConverter: deps.temporal.dataConverter,
    ...workerTracing(deps.tracing),
    // A dead worker's runs are looked for elsewhere well before the API stops waiting for an update (10 s).
    stickyQueueScheduleToStartTimeout: '3s',
    ...workerTuning(config.worker),
    // Activities in flight get this long to finish; then they are cancelled and handed back for another attempt.
    shutdownGraceTime: '10s',
  });
  const run = worker.run();
  deps.log.info({ taskQueue: config.temporal.taskQueue, version: config.worker.version, metricsPort: metrics?.port }, 'polling');
  onShutdown(deps.log, async () => {
    deps.stopping.abort();
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await run;
    await connection.close();
    await metrics?.close();
    await deps.close();
  });
  await run;
}

/** Waits for Temporal, as a worker may be started before its server; ends the process where waiting would not help. */
async function connect({ config, log, stopping }: Deps): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(config.temporal.connection);
    } catch (error) {
      const refusal = refusalOf(error, config.temporal.connection);
      if (refusal !== undefined) {
        log.fatal({ err: error }, refusal);
        process.exit(1);
      }
      log.warn({ err: error }, 'the workflow service is not ready yet');
      await delay(1000, undefined, { signal: stopping.signal });
    }
  }
}

function temporalLogger({ log }: Deps) {
  const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  return {
    log: (level: keyof typeof write, message: string, meta?: object) => log[write[level]](meta ?? {}, message),
    trace: (message: string, meta?: object) => log.trace(meta ?? {}, message),
    debug: (message: string, meta?: object) => log.debug(meta ?? {}, message),
    info: (message: string, meta?: object) => log.info(meta ?? {}, message),
    warn: (message: string, meta?: object) => log.warn(meta ?? {}, message),
    error: (message: string, meta?: object) => log.error(meta ?? {}, message),
  };
}

await main();
