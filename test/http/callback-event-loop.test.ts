import { beforeAll, describe, expect, test } from '@jest/globals';
import { hmac, secrets } from '../surfaces/callbacks/harness.js';
import { newId } from '../../src/base/ids.js';
import { apiClient } from '../support/client.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { createLoopMeter } from '../support/loop-meter.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { verifies } from '../support/verifies.js';
import { sizeOf } from '../requirements/full-forms.js';
import { anyBodies, catalogEvents, ingests, payloads, pushes } from '../support/worst-callbacks.js';

const deps = useDeps();
const { environment: measured, measure, count, expectNoBlock } = createLoopMeter(() => api);
const environment: Record<string, string> = {
  ...measured,
  VERIFY_RESPONSES: 'false',
  DOWNSTREAM_PORT: '0',
  CODESYNC_WEBHOOK_SECRET: secrets.codesync,
  CATALOG_WEBHOOK_SECRET: secrets.catalog,
  CATALOG_SERVER_KEY: secrets.serverKey,
};
const product = ownProduct(environment);
let api: Api;
let workspace: Workspace;
const repository = `acme/${newId()}`;

beforeAll(async () => {
  workspace = await createWorkspace(deps);
  environment.CATALOG_PROJECT_ID = workspace.projectID;
  api = await product.api();
  const authorization = `Bearer ${await createKey(deps, workspace, { grants: ['svc:codesync.write'] })}`;
  const bound = await apiClient(api.url).post('/v1/bind-repository', { repository }, { authorization });
  expect(bound).toMatchObject({ status: 200 });
});

const call = (path: string, name: string, body: string | Buffer, headers: Record<string, string>) => ({
  name: `${path}: ${name}`,
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});
const pushHeaders = (body: string | Buffer, secret = secrets.codesync) => ({
  'x-github-event': 'push',
  'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
});

const everyNth = Math.round(100 / sizeOf('EVENT_LOOP_PERCENT'));
let seen = 0;
/** The full form sends each body that fits no receiver to all of them. */
const sampled = () =>
  Object.entries(anyBodies)
    .filter(() => (seen += 1) % everyNth === 0)
    .map(([name, bodyOf]) => [name, bodyOf()] as const);

/** Changes the first bytes if this has no other effect, so that the request is not a repeat. */
function changed(body: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(' '.repeat(1 + (tries += 1))), Buffer.from(body)]);
}
let tries = 0;

describe('no callback of 25 MiB blocks the event loop for longer than 100 ms', () => {
  test('a push', async () => {
    verifies('operations.event-loop');
    const path = '/v1/codesync/webhook/github';
    for (const [name, body] of sampled()) await measure(call(path, name, body, pushHeaders(body)));
    for (const [name, body] of sampled())
      await measure(call(path, `${name}, signed by nobody`, body, pushHeaders(body, 'another')));
    for (const [name, { bodyOf, type }] of Object.entries(pushes(repository)))
      await measure(() => {
        // A repeated body is only acknowledged.
        const body = bodyOf(newId());
        return call(path, name, body, { ...pushHeaders(body), 'content-type': type });
      });
    expectNoBlock(0);
  }, 600_000);

  test('an event of the catalog', async () => {
    const from = count();
    for (const [name, body] of [...sampled(), ...Object.entries(catalogEvents)])
      await measure(call('/v1/catalog/om/webhook', name, body, { 'x-om-signature': hmac(secrets.catalog, body) }));
    expectNoBlock(from);
  }, 600_000);

  test('an ingest of another service', async () => {
    const from = count();
    for (const [name, body] of [...sampled(), ...Object.entries(ingests(workspace.projectID))])
      await measure(call('/v1/internal/catalog/ingest', name, body, { 'x-server-key': secrets.serverKey }));
    expectNoBlock(from);
  }, 600_000);

  test('a callback that is forwarded', async () => {
    const from = count();
    const member = product.through(api, workspace);
    const flow = await member.api.post(`/agentflow?projectID=${workspace.projectID}`, flowThatCalls([]));
    const connector = await member.api.post(`/actions/mail/config?projectID=${workspace.projectID}`, {
      name: 'Office',
      triggers: [{ event: '*', agentflow_id: flow.body._id }],
    });
    expect(connector).toMatchObject({ status: 200 });
    const paths = [
      `/account-provider-webhook/${workspace.projectID}/${connector.body._id}`,
      connector.body.notify_path,
    ];
    for (const path of paths) {
      const any = sampled().map(([name, body]) => [name, { body, type: 'application/json' }] as const);
      for (const [name, { body, type }] of [...any, ...Object.entries(payloads)])
        await measure(() => call(path, name, changed(body), { 'content-type': type }));
    }
    expectNoBlock(from);
  }, 600_000);
});
