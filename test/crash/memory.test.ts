import { afterAll, expect, test } from '@jest/globals';
import { connect, createServer, type Socket } from 'node:net';
import { decideMemoryUpdate, rememberWorkflowId } from '../../workflows/remember/messages.js';
import {
  facts,
  livesIn,
  memoryOf,
  reached,
  remember,
  useMemoryProduct,
} from '../surfaces/gateway/memory/memory-product.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { bearerClient } from '../support/gateway.js';
import { ownProduct } from '../support/own-product.js';
import { listen } from '../support/ports.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const product = useMemoryProduct(deps);
const overrides: Record<string, string> = {};
const dying = ownProduct(overrides);
const text = 'Ada Lovelace lives in Berlin.';

/** Temporal as one process reaches it. Once it is frozen, it receives nothing from that process. */
async function startFreezableTemporal() {
  const [host, port] = (testRun().env.TEMPORAL_ADDRESS ?? '').split(':');
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const relay = createServer((client) => {
    const server = connect(Number(port), host);
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined));
    if (!isFrozen) client.pipe(server).pipe(client);
  });
  const { port: ownPort } = await listen(relay);
  afterAll(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    address: `127.0.0.1:${ownPort}`,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe();
    },
  };
}
const temporal = await startFreezableTemporal();

test('a memory whose API process is killed before it starts the workflow is started by a worker', async () => {
  verifies('memory.unstarted');
  const workspace = await product.workspace(() => livesIn('Ada Lovelace', 'Berlin', text));
  Object.assign(overrides, { LLM_BASE_URL: product.model.url, TEMPORAL_ADDRESS: temporal.address });
  const api = await dying.api();
  temporal.freeze();
  const { memories } = deps.mongo.collections;
  const unanswered = bearerClient(workspace.apiKey, api.url).post('/v1/remember', { text });
  const killed = expect(unanswered).rejects.toThrow();
  const memory = await eventually(async () => {
    const found = await memories.findOne({ project_id: workspace.projectID });
    if (!found) throw new Error('there is no record yet');
    return found;
  });
  await api.end('SIGKILL');
  await killed;

  const run = deps.temporal.client.workflow.getHandle(rememberWorkflowId(memory._id));
  await expect(run.describe()).rejects.toThrow('not found');
  expect(await memoryOf(workspace, memory._id)).toMatchObject({ status: 'queued' });
  await memories.updateOne({ _id: memory._id }, { $inc: { created_at: -3600 } });
  await eventually(() => run.describe());
  await eventually(async () => expect((await memoryOf(workspace, memory._id)).status).not.toBe('queued'));
});

test('a memory that is approved and then cancelled while no worker runs is cancelled, not rejected', async () => {
  verifies('memory.cancel');
  const workspace = await product.workspace(() => livesIn('Ada Lovelace', 'Berlin', text));
  const { memory_id } = await remember(workspace, { text, review: true });
  await reached(workspace, memory_id, 'waiting');
  await product.worker.end('SIGKILL');
  const handle = deps.temporal.client.workflow.getHandle(rememberWorkflowId(memory_id));
  const decide = (decision: 'approve' | 'cancel') =>
    handle.executeUpdate(decideMemoryUpdate, { args: [{ decision, by: workspace.userId }] });
  const approved = decide('approve');
  await handle.describe();
  const cancelled = decide('cancel');
  product.worker = await product.product.worker();
  expect(await Promise.all([approved, cancelled])).toEqual(['running', 'cancelled']);
  await reached(workspace, memory_id, 'cancelled');
  expect(await facts(workspace)).toEqual([]);
});
