import { Agent, createServer, request } from 'node:http';
import { Client, Connection } from '@temporalio/client';
import express from 'express';
import { MongoClient } from 'mongodb';
import neo4j from 'neo4j-driver';
import { newId } from '../../src/base/ids.js';
import { announce } from '../../test/support/ports.js';
import { leastCodec } from './least-codec.js';
import { touchUpdate } from './workflows.js';

/**
 * Routes that do the least which the product's routes must do: the call itself, reads of the credential and the policies
 * of a query, and one write of each record that the product has to keep. They check nothing, and write no log.
 */
const env = process.env as Record<string, string>;
const { MONGODB_URI = '', NEO4J_URI = '', TEMPORAL_TASK_QUEUE: taskQueue = 'bare' } = env;
const mongo = await new MongoClient(MONGODB_URI).connect();
const rows = mongo.db().collection<{ _id: string }>('least_rows');
const records = mongo.db().collection<{ _id: string }>('least_records');
const lifecycles = mongo.db().collection<{ _id: string }>('least_lifecycles');
const audit = mongo.db().collection<{ _id: string }>('least_audit');
const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(env.NEO4J_USER ?? 'neo4j', env.NEO4J_PASSWORD ?? ''), {
  disableLosslessIntegers: true,
});
const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS ?? 'localhost:7233' });
const namespace = env.TEMPORAL_NAMESPACE ?? 'default';
const temporal = new Client({ connection, namespace });
const encrypting = new Client({ connection, namespace, dataConverter: { payloadCodecs: [leastCodec] } });
const agent = new Agent({ keepAlive: true });

const app = express();
app.post('/forward', express.raw({ type: () => true }), (req, res) => {
  const headers = { 'content-type': req.headers['content-type'], 'content-length': (req.body as Buffer).length };
  const target = { agent, port: Number(env.TARGET_PORT), host: '127.0.0.1', method: 'POST', path: '/', headers };
  request(target, (answer) => {
    res.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] });
    answer.pipe(res);
  }).end(req.body);
});
app.use(express.json());
app.post('/row', async (req, res) => {
  const row = { _id: newId(), ...(req.body as object) };
  await rows.insertOne(row);
  res.status(201).json(row);
});
app.post('/query', async (req, res) => {
  const { query, params } = req.body as { query: string; params: Record<string, unknown> };
  const session = driver.session({ defaultAccessMode: neo4j.session.READ });
  try {
    await Promise.all([records.findOne({ _id: 'credential' }), records.findOne({ _id: 'policies' })]);
    const result = await session.executeRead((transaction) => transaction.run(query, params), { timeout: 5000 });
    await Promise.all([lifecycles.insertOne({ _id: newId() }), audit.insertOne({ _id: newId() })]);
    res.json({ rows: result.records.map((record) => record.toObject()) });
  } finally {
    await session.close();
  }
});
app.post('/start/:workflow', async (req, res) => {
  const workflowId = `least/${newId()}`;
  const [client, queue] =
    req.params.workflow === 'recordedCalls' ? [encrypting, `${taskQueue}-encrypted`] : [temporal, taskQueue];
  await client.workflow.start(req.params.workflow, { taskQueue: queue, workflowId, args: req.body as unknown[] });
  res.json({ execution_id: workflowId });
});
app.post('/touch/:id', async (req, res) => {
  await temporal.workflow.getHandle(req.params.id).executeUpdate(touchUpdate);
  await records.insertOne({ _id: newId() });
  res.json({ execution_id: req.params.id });
});
await announce(createServer(app));
