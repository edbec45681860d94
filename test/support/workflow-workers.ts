import { afterAll, beforeAll } from '@jest/globals';
import { DefaultLogger, makeTelemetryFilterString, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Deps } from '../../src/domain/deps.js';
import { trustedActivities } from '../../src/temporal/trusted-activities.js';
import { workflowBundle } from '../../src/workflow-code.js';
import { queueName } from '../../workflows/queues/queues.js';

/** Runs the product's workflows on this queue with the given activities, while the tests of the file run. */
export function useWorkflowWorkers(deps: Deps, taskQueue: string, activities: object): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  });
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const connection = await NativeConnection.connect(deps.config.temporal.connection);
    const { namespace } = deps.config.temporal;
    const shared = {
      connection,
      namespace,
      activities,
      dataConverter: deps.temporal.workerDataConverter,
      interceptors: { activity: [trustedActivities()] },
    };
    const workers = await Promise.all([
      Worker.create({ ...shared, taskQueue, workflowBundle }),
      Worker.create({ ...shared, taskQueue: queueName(taskQueue, 'control') }),
    ]);
    const run = Promise.all(workers.map((worker) => worker.run()));
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await run;
      await connection.close();
    };
  });
  afterAll(() => stop());
}
