import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadConfig } from '../config.js';

/** A poll is held open for about a minute, so a worker that lives was seen within this time. */
const seenWithinMs = 150_000;
const taskQueueTypes = { workflow: 1, activity: 2 } as const;

/** Ends with 0 when Temporal has lately seen a worker of this host on the task queue; the container's health check. */
const { temporal } = loadConfig(process.env);
const connection = await Connection.connect({ ...temporal.connection, connectTimeout: 5_000 });
try {
  const lost: string[] = [];
  for (const [name, taskQueueType] of Object.entries(taskQueueTypes)) {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace: temporal.namespace,
      taskQueue: { name: temporal.taskQueue },
      taskQueueType,
    });
    const seen = pollers.some(({ identity, lastAccessTime }) => {
      const seenAt = Number(lastAccessTime?.seconds ?? 0) * 1000;
      return identity?.endsWith(`@${hostname()}`) && Date.now() - seenAt < seenWithinMs;
    });
    if (!seen) lost.push(name);
  }
  if (lost.length > 0) {
    process.stderr.write(`no worker of ${hostname()} polls ${temporal.taskQueue} for ${lost.join(' and ')} tasks\n`);
    process.exitCode = 1;
  }
} finally {
  await connection.close();
}
