import path from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { packageRoot } from '../../src/package-root.js';

/** A worker for the baseline workflows, with the settings of the product's worker. */
const {
  TEMPORAL_ADDRESS: address = 'localhost:7233',
  TEMPORAL_NAMESPACE: namespace = 'default',
  TEMPORAL_TASK_QUEUE: taskQueue = 'bare',
} = process.env;

const connection = await NativeConnection.connect({ address, grpcCompression: { codec: 'none' } });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowsPath: path.join(packageRoot, 'dist/bench/bare/workflows.js'),
  activities: {
    nothing: async () => undefined,
    async call(url: string, key: string): Promise<unknown> {
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };
      return (await fetch(url, { method: 'POST', headers, body: '{}' })).json();
    },
  },
  maxConcurrentActivityTaskExecutions: 100,
  maxConcurrentWorkflowTaskExecutions: 100,
});
process.on('SIGTERM', () => worker.shutdown());
console.log(JSON.stringify({ msg: 'polling' }));
await worker.run();
await connection.close();
