import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadConfig } from '../config.js';
import { queueWorkers } from '../temporal/worker-options.js';

/** A poll stays open for about a minute, so Temporal has seen every live worker within this time. */
const seenWithinMs = 150_000;
const taskQueueTypes = { workflow: 1, activity: 2 } as const;

/**
 * Checks the health of the container: exits with 0 if Temporal has recently seen a worker of this host on each of its
 * queues.
 */
const { temporal, worker } = loadConfig(process.env);
const connection = await Connection.connect({ ...temporal.connection, connectTimeout: 5_000 });
try {
  const lost: string[] = [];
  for (const { taskQueue, runsWorkflows, runsActivities } of queueWorkers(worker, temporal.taskQueue)) {
    for (const type of [
      ...(runsWorkflows ? ['workflow' as const] : []),
      ...(runsActivities ? ['activity' as const] : []),
    ]) {
      if (!(await isPolled(taskQueue, taskQueueTypes[type]))) lost.push(`${taskQueue} (${type})`);
    }
  }
  if (lost.length > 0) {
    process.stderr.write(`no worker of ${hostname()} polls ${lost.join(', ')}\n`);
    process.exitCode = 1;
  }
} finally {
  await connection.close();
}

async function isPolled(name: string, taskQueueType: number): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: temporal.namespace,
    taskQueue: { name },
    taskQueueType,
  });
  return pollers.some(({ identity, lastAccessTime }) => {
    const seenAt = Number(lastAccessTime?.seconds ?? 0) * 1000;
    return identity?.endsWith(`@${hostname()}`) && Date.now() - seenAt < seenWithinMs;
  });
}
