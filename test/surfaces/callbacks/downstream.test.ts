import { beforeAll, describe, expect, test } from '@jest/globals';
import { connectorWorkflowId } from '../../../workflows/connector-events/messages.js';
import { newId } from '../../../src/base/ids.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { useCallbacks } from '../../support/callbacks.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { released } from '../../support/releases.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const own = useCallbacks(deps);
const { connectorOf, post, executionsOf } = own;
const { collections } = deps.mongo;
/** The account provider's API. */
const provider = await useHttpSink();
const statusOf = async (id: string) => (await collections.connectors.findOne({ _id: id }))?.status;

/** The path of a new trigger, and its connector. */
async function triggerOf(kind: 'voice' | 'media', goal: string, agentflow_id = own.agentflowId) {
  const { _id, triggers } = await connectorOf('mail', { triggers: [{ kind, goal, agentflow_id }] });
  return { connector_id: _id, path: `/${kind}-provider/${triggers[0].trigger_id}` };
}

describe('POST /actions/{category}/config', () => {
  test('returns a pin once and never returns a secret', async () => {
    verifies('connector.pin');
    const config = { account_api_url: provider.url, account_api_token: 'provider token' };
    const connector = await connectorOf('mail', { config, tags: ['a'], triggers: ['mail_received'] });
    expect(connector).toMatchObject({
      category: 'mail',
      status: 'pending',
      config: { account_api_token: '[stored]' },
      notify_path: expect.stringMatching(/^\/actions\/mail\/notify\/[\w-]+\/[\w-]{32}$/),
    });
    const read = await own.workspace.api.get(
      `/actions/mail/config?projectID=${own.workspace.projectID}&connector_id=${connector._id}`,
    );
    expect(read.body).not.toHaveProperty('notify_path');
    const pin = connector.notify_path.split('/').at(-1);
    const stored = JSON.stringify(await collections.connectors.findOne({ _id: connector._id }));
    for (const secret of [pin, 'provider token', provider.url]) expect(stored).not.toContain(secret);
    for (const secret of [pin, 'provider token']) expect(JSON.stringify(read.body)).not.toContain(secret);
    expect(read.body.config).toEqual({ account_api_url: provider.url, account_api_token: '[stored]' });
    const stranger = await createWorkspace(deps);
    expect((await stranger.api.get(`/actions/mail/config?connector_id=${connector._id}`)).status).toBe(404);
  });
});

describe('the notify routes', () => {
  test('accept the connector only with its pin; any other request gets the same 404', async () => {
    verifies('downstream.pin');
    const { _id, notify_path } = await connectorOf('messaging');
    const pin = notify_path.split('/').at(-1);
    const wrong = [
      `messaging/notify/${_id}/${pin}x`,
      `messaging/notify/${_id}/${pin.slice(1)}`,
      `mail/notify/${_id}/${pin}`,
      `messaging/notify/${newId()}/${pin}`,
      `messaging/notify/${_id}/x`,
    ];
    for (const path of wrong)
      expect([path, await post(`/actions/${path}`, '{"account_id":"a1"}')]).toEqual([
        path,
        { status: 404, body: { error: 'not_found', error_description: 'connector was not found' } },
      ]);
    expect(await post(notify_path, '{"account_id":"a1"}')).toEqual({ status: 200, body: { status: 'accepted' } });
    await eventually(async () => expect(await statusOf(_id)).toBe('awaiting_verification'));
  });

  test('activate the connector only after the account was fetched from its provider', async () => {
    verifies('downstream.account-refetched', 'connector-events.activates', 'connector-events.workflow');
    const config = { account_api_url: `${provider.url}/api`, account_api_token: 'provider token' };
    provider.answer('/api/accounts/real', (_request, res) =>
      res.setHeader('content-type', 'application/json').end('{"id":"real","name":"Ada"}'),
    );
    provider.answer('/api/accounts/forged', (_request, res) => res.writeHead(404).end());
    for (const [category, account, status] of [
      ['mail', 'real', 'active'],
      ['professional_network', 'forged', 'failed'],
    ] as const) {
      const { _id, notify_path } = await connectorOf(category, { config });
      expect(
        (await post(notify_path, JSON.stringify({ status: 'CREATION_SUCCESS', account_id: account }))).status,
      ).toBe(200);
      await eventually(async () => expect(await statusOf(_id)).toBe(status));
      expect((await deps.temporal.client.workflow.getHandle(connectorWorkflowId(_id)).describe()).type).toBe(
        'connectorEvents',
      );
    }
    expect(provider.requests.find(({ path }) => path === '/api/accounts/real')?.headers.authorization).toBe(
      'Bearer provider token',
    );
  });
});

describe('POST /account-provider-webhook/{projectID}/{connectorID}', () => {
  test('starts the coworkers of the triggers that accept the event, with the payload as input', async () => {
    verifies('downstream.trigger-configuration', 'connector-events.triggers', 'downstream.signals');
    const { _id } = await connectorOf('mail', {
      triggers: [{ event: 'mail_received', agentflow_id: own.agentflowId, goal: 'Answer the mail' }],
    });
    const path = `/account-provider-webhook/${own.workspace.projectID}/${_id}`;
    expect(await post(path, 'event=mail_sent&subject=x', 'application/x-www-form-urlencoded')).toMatchObject({
      status: 200,
      body: { status: 'ignored' },
    });
    const body = 'event=mail_received&subject=Hello+%E2%82%AC&to=a&to=b&event_id=e-1';
    for (let at = 0; at < 3; at += 1)
      expect(await post(path, body, 'application/x-www-form-urlencoded')).toEqual({
        status: 200,
        body: { status: 'accepted' },
      });
    const [execution] = await eventually(async () => {
      const found = await executionsOf({ goal: 'Answer the mail', status: 'completed' });
      expect(found).toHaveLength(1);
      return found;
    });
    expect(execution?.input_variables).toMatchObject({
      trigger: { connector_id: _id, event: 'mail_received', event_id: 'e-1', encoding: 'form' },
      payload: { subject: 'Hello €', to: ['a', 'b'] },
    });
    await collections.connectors.updateOne({ _id }, { $set: { triggers: [] } });
    expect(await post(path, '{"event":"mail_received"}')).toMatchObject({ status: 200, body: { status: 'ignored' } });
    for (const other of [
      `/account-provider-webhook/${newId()}/${_id}`,
      `/account-provider-webhook/${own.workspace.projectID}/${newId()}`,
    ]) {
      expect((await post(other, '{"event":"mail_received"}')).status).toBe(404);
    }
  });
});

test('an event of a connected account does not start a coworker of a voice or media trigger', async () => {
  verifies('downstream.trigger-configuration');
  const { _id } = await connectorOf('mail', {
    triggers: ['voice', 'media'].map((kind) => ({ kind, agentflow_id: own.agentflowId })),
  });
  expect(
    await post(`/account-provider-webhook/${own.workspace.projectID}/${_id}`, '{"event":"mail_sent"}'),
  ).toMatchObject({ status: 200, body: { status: 'ignored' } });
});

describe('a paused connector, and one of a deleted project', () => {
  const triggers = () =>
    ['voice', 'media', 'mail_received'].map((kind) => ({ kind, event: kind, agentflow_id: own.agentflowId }));
  const pathsOf = ({ _id, projectID, notify_path, triggers: [voice, media] }: any): string[] => [
    notify_path,
    `/account-provider-webhook/${projectID}/${_id}`,
    `/voice-provider/${voice.trigger_id}`,
    `/media-provider/${media.trigger_id}`,
  ];
  const statusesOf = (paths: string[]) =>
    Promise.all(paths.map(async (path) => (await post(path, '{"event":"mail_received","account_id":"a"}')).status));

  test('accepts no callbacks', async () => {
    verifies('downstream.trigger-unknown');
    const connector = await connectorOf('mail', { triggers: triggers() });
    const paths = pathsOf(connector);
    expect(await statusesOf(paths)).toEqual([200, 200, 200, 200]);
    await collections.connectors.updateOne({ _id: connector._id }, { $set: { status: 'paused' } });
    expect(await statusesOf(paths)).toEqual([404, 404, 404, 404]);
    await collections.connectors.updateOne({ _id: connector._id }, { $set: { status: 'active' } });
    expect(await statusesOf(paths)).toEqual([200, 200, 200, 200]);
    const ended = { status: 'deleted' as const };
    await collections.projects.updateOne({ _id: own.workspace.projectID }, { $set: ended });
    expect(await statusesOf(paths)).toEqual([404, 404, 404, 404]);
    await collections.projects.updateOne({ _id: own.workspace.projectID }, { $set: { status: 'active' } });
  });
});

describe('POST /voice-provider/{triggerID}, /media-provider/{triggerID}', () => {
  test('accept only their own triggers', async () => {
    verifies('downstream.trigger-unknown');
    const { path: voice } = await triggerOf('voice', 'x');
    for (const path of [`/voice-provider/${newId()}`, voice.replace('voice', 'media'), '/voice-provider/x']) {
      expect([path, await post(path, '{}')]).toEqual([
        path,
        { status: 404, body: { error: 'not_found', error_description: 'trigger was not found' } },
      ]);
    }
  });

  test('start the coworker with any payload: JSON, bytes, nothing, or one that is too large for an input', async () => {
    verifies('connector-events.triggers');
    const { path } = await triggerOf('media', 'Look at the media');
    const large = JSON.stringify({ event: 'large', text: 'y'.repeat(600_000) });
    const bodies = ['{"event":"done","__proto__":{"x":1},"n":{"deep":[1]}}', Buffer.from([0xff, 0x00]), '', large];
    for (const body of bodies) expect(await post(path, body)).toEqual({ status: 200, body: { status: 'accepted' } });
    const executions = await eventually(async () => {
      const found = await executionsOf({ goal: 'Look at the media', status: 'completed' });
      expect(found).toHaveLength(4);
      return found;
    });
    const inputs = executions
      .map(({ input_variables, files }) => [input_variables.trigger.encoding, files.length])
      .sort();
    expect(inputs).toEqual([
      ['base64', 0],
      ['json', 1],
      ['text', 0],
      ['text', 0],
    ]);
  });

  test('record a coworker that cannot be started, and continue with the next', async () => {
    const { api, projectID } = own.workspace;
    const flow = await api.post(`/agentflow?projectID=${projectID}`, {
      name: 'Without its variable',
      agents: [{ title: 'A', prompt: { template: '{{ missing }}' } }],
    });
    const { path, connector_id } = await triggerOf('voice', 'Cannot run', await released(api, flow.body._id));
    expect((await post(path, '{}')).status).toBe(200);
    const result = await deps.temporal.client.workflow.getHandle(connectorWorkflowId(connector_id)).result();
    expect(result).toMatchObject({ handled: 1, failures: [{ type: 'validation_failed' }] });
  });

  test.each<[string, (api: ApiClient, id: string) => Promise<{ status: number }>]>([
    ['was deleted', (api, id) => api.delete(`/agentflow/${id}`)],
    ['is not active', (api, id) => api.patch(`/agentflow/${id}`, { isActive: false })],
    ['has no agents', (api, id) => api.patch(`/agentflow/${id}`, { agents: [], initialAgent: '' })],
  ])('refuse a callback, and ignore an event, whose agentflow %s', async (_, stop) => {
    verifies('downstream.trigger-configuration');
    const { api, projectID } = own.workspace;
    const made = await api.post(`/agentflow?projectID=${projectID}`, { name: 'Short-lived', agents: [{ title: 'A' }] });
    const flow = made.body._id;
    const connector = await connectorOf('mail', {
      triggers: [
        { event: 'mail_received', agentflow_id: flow },
        { kind: 'voice', agentflow_id: flow },
      ],
    });
    const webhook = `/account-provider-webhook/${projectID}/${connector._id}`;
    const event = () => JSON.stringify({ event: 'mail_received', event_id: newId() });
    const voice = `/voice-provider/${connector.triggers[1].trigger_id}`;
    expect(await Promise.all([post(webhook, event()), post(voice, event())])).toMatchObject([
      { status: 200 },
      { status: 200 },
    ]);
    expect((await stop(api, flow)).status).toBe(200);
    const reason = 'the agentflow of the trigger was deleted, is not active or has no agents';
    expect(await post(webhook, event())).toMatchObject({ status: 200, body: { status: 'ignored', reason } });
    expect(await post(voice, event())).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });

  test('follow the triggers of the connector after a process died between its change and that of their records', async () => {
    const connector = await connectorOf('mail', { triggers: [{ kind: 'voice', agentflow_id: own.agentflowId }] });
    const [voice] = connector.triggers;
    const answers = () => post(`/voice-provider/${voice.trigger_id}`, JSON.stringify({ event_id: newId() }));
    const change = (triggers: any[]) =>
      collections.connectors.updateOne({ _id: connector._id }, { $set: { triggers } });
    await change([{ ...voice, goal: 'Changed goal' }]);
    expect((await answers()).status).toBe(200);
    await eventually(async () => expect(await executionsOf({ goal: 'Changed goal' })).toHaveLength(1));
    await change([]);
    expect((await answers()).status).toBe(404);
  });
});

describe('an API process', () => {
  const product = ownProduct({ DOWNSTREAM_PORT: '0' });
  let api: Api;
  beforeAll(async () => {
    api = await product.api();
  });

  test('serves the downstream routes, and only them, on the internal port', async () => {
    verifies('service.surfaces-share-port', 'downstream.internal-only');
    const { port } = new URL(String(api.up.downstreamUrl));
    expect(port).not.toBe(String(api.port));
    expect((await fetch(`http://127.0.0.1:${port}/v1/project`)).status).toBe(404);
    expect(
      (await fetch(`http://127.0.0.1:${port}/v1/codesync/webhook/github`, { method: 'POST', body: '{}' })).status,
    ).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/voice-provider/x`, { method: 'POST', body: '{}' })).status).toBe(404);
  });

  test('loses no acknowledged callback while it is killed and no worker runs', async () => {
    verifies('downstream.nothing-lost');
    const { path } = await triggerOf('voice', 'Take the call');
    let accepted = 0;
    const ids = Array.from({ length: 30 }, () => newId());
    await Promise.all(
      ids.map(async (event_id, at) => {
        if (at === 10) await api.end('SIGKILL').then(async () => (api = await product.api()));
        await eventually(async () => {
          expect((await apiClient(api.url).post(path, { event_id })).status).toBe(200);
        });
        accepted += 1;
      }),
    );
    expect(accepted).toBe(30);
    await product.worker();
    await eventually(async () =>
      expect(await executionsOf({ goal: 'Take the call', status: 'completed' })).toHaveLength(30),
    );
    const events = (await executionsOf({ goal: 'Take the call' })).map(
      ({ input_variables }) => input_variables.trigger.event_id,
    );
    expect(events.sort()).toEqual([...ids].sort());
  });
});
