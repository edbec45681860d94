import path from 'node:path';
import { MongoClient } from 'mongodb';
import { NativeConnection, Worker } from '@temporalio/worker';
import { leastCodec } from './least-codec.js';
import { packageRoot } from '../../src/base/packages.js';

/** A worker for the baseline workflows, with the settings of the product's worker. With `ENCRYPTED`, it encrypts payloads. */
const {
  TEMPORAL_ADDRESS: address = 'localhost:7233',
  TEMPORAL_NAMESPACE: namespace = 'default',
  TEMPORAL_TASK_QUEUE: taskQueue = 'bare',
  MONGODB_URI = '',
} = process.env;

const mongo = await new MongoClient(MONGODB_URI).connect();
const records = mongo.db().collection('least_records');
const audit = mongo.db().collection('least_audit');
const exchanges = mongo.db().collection('least_exchanges');
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
    /** Reads a role and a policy and stores an intent, then stores a lifecycle and an audit entry. */
    async recordedCall(url: string, key: string): Promise<unknown> {
      await Promise.all([records.insertOne({}), records.findOne({ role: key }), records.findOne({ policy: key })]);
      const answer = await call(url, key);
      await Promise.all([records.insertOne({}), audit.insertOne({})]);
      return answer;
    },
    /** Stores two events and the exchange of each call, and the record of the run. */
    async recordCalls(count: number): Promise<void> {
      const ofEach = <T>(value: () => T) => Array.from({ length: count }, value);
      await Promise.all([
        records.insertMany(ofEach(() => ({ type: 'step_started' })).concat(ofEach(() => ({ type: 'step_completed' })))),
        exchanges.insertMany(ofEach(() => ({ sealed: 'x'.repeat(1000) }))),
      ]);
      await records.insertOne({});
    },
  },
  ...(process.env.ENCRYPTED && { dataConverter: { payloadCodecs: [leastCodec] } }),
  maxConcurrentActivityTaskExecutions: 100,
  maxConcurrentWorkflowTaskExecutions: 100,
});
process.on('SIGTERM', () => worker.shutdown());
console.log(JSON.stringify({ msg: 'polling' }));
await worker.run();
await Promise.all([connection.close(), mongo.close()]);
