import path from 'node:path';
import { MongoClient } from 'mongodb';
import { NativeConnection, Worker } from '@temporalio/worker';
import { packageRoot } from '../../src/package-root.js';

/** A worker for the baseline workflows, with the settings of the product's worker. */
const {
  TEMPORAL_ADDRESS: address = 'localhost:7233',
  TEMPORAL_NAMESPACE: namespace = 'default',
  TEMPORAL_TASK_QUEUE: taskQueue = 'bare',
  MONGODB_URI = '',
} = process.env;

const mongo = await new MongoClient(MONGODB_URI).connect();
const records = mongo.db().collection('least_records');
const audit = mongo.db().collection('least_audit');
async function call(url: string, key: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).json();
}
const connection = await NativeConnection.connect({ address, grpcCompression: { codec: 'none' } });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowsPath: path.join(packageRoot, 'dist/bench/bare/workflows.js'),
  activities: {
    nothing: async () => undefined,
    record: async () => void (await records.insertOne({})),
    call,
    async recordedCall(url: string, key: string): Promise<unknown> {
      await Promise.all([records.insertOne({}), records.findOne({})]);
      const answer = await call(url, key);
      await Promise.all([records.insertOne({}), audit.insertOne({})]);
      return answer;
    },
  },
  maxConcurrentActivityTaskExecutions: 100,
  maxConcurrentWorkflowTaskExecutions: 100,
});
process.on('SIGTERM', () => worker.shutdown());
console.log(JSON.stringify({ msg: 'polling' }));
await worker.run();
await Promise.all([connection.close(), mongo.close()]);
