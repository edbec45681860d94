import { expect, test } from '@jest/globals';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { ownProduct } from '../../../support/own-product.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const server = await useHttpSink();

const stepOf = async ({ api }: Workspace, id: string) =>
  (await api.get(`/execute_flow/${id}/monitoring`)).body.steps[0];
const guarded = { ALLOW_PRIVATE_TARGETS: 'false' };
const closed = ownProduct(guarded);
const keys = { SECRETS_KEY: 'the first key of at least 32 characters' };
const sealed = ownProduct(keys);

test('an action reaches loopback and private addresses only if ALLOW_PRIVATE_TARGETS allows it', async () => {
  verifies('env.allow-private-targets');
  const [api, worker] = await Promise.all([closed.api(), closed.worker()]);
  const workspace = closed.through(api, await createWorkspace(deps));
  for (const url of [
    `${server.url}/private`,
    server.url.replace('127.0.0.1', 'localhost'),
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
  ]) {
    const id = await startExecution(workspace, flowThatCalls([url]));
    expect(await untilExecution(workspace, id, 'failed')).toMatchObject({ status: 'failed' });
    expect([url, await stepOf(workspace, id)]).toMatchObject([
      url,
      { attempts: 1, error: expect.stringContaining('public') },
    ]);
  }
  expect(server.requests).toHaveLength(0);
  await worker.end();
  guarded.ALLOW_PRIVATE_TARGETS = 'true';
  await closed.worker();
  const id = await startExecution(workspace, flowThatCalls([`${server.url}/private`]));
  await untilExecution(workspace, id, 'completed');
  expect(server.requests.map(({ path }) => path)).toEqual(['/private']);
});

test('a process with another SECRETS_KEY cannot open the secrets of a connector', async () => {
  verifies('env.secrets-key');
  const workspace = sealed.through(await sealed.api(), await createWorkspace(deps));
  const connector = await workspace.api.post('/actions/restful/config', {
    name: 'Sealed',
    config: { base_url: `${server.url}/sealed`, auth: { type: 'bearer', token: 'sealed-s3cret' } },
  });
  expect(connector.status).toBe(200);
  const flow = flowThatCalls(['/x']) as any;
  flow.agents[0].skills[0].connector_id = connector.body._id;
  keys.SECRETS_KEY = 'another key of at least 32 characters too';
  const stranger = await sealed.worker();
  // The process cannot read the run's history either, so the run waits for a worker that has the key.
  const waiting = await startExecution(workspace, flow);
  await stranger.end();
  expect(server.seen('/sealed')).toHaveLength(0);
  keys.SECRETS_KEY = 'the first key of at least 32 characters';
  await sealed.worker();
  await untilExecution(workspace, waiting, 'completed');
  expect(server.requests.at(-1)).toMatchObject({
    path: '/sealed/x',
    headers: { authorization: 'Bearer sealed-s3cret' },
  });
});
