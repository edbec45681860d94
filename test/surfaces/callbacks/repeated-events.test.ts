import { describe, expect, test } from '@jest/globals';
import { connectorWorkflowId } from '../../../workflows/connector-events/messages.js';
import { useCallbacks } from '../../support/callbacks.js';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { hmac } from './harness.js';

const deps = useDeps();
const own = useCallbacks(deps);
const { connectorOf, post, executionsOf } = own;
const { collections } = deps.mongo;

describe('repeated copies of an event', () => {
  const copies = 20;
  const events = Array.from({ length: 10 }, (_, at) => `event-${at}`);
  /** Sends a copy that a busy service refuses with 503 again, as providers do. */
  const send = (path: string, body: string) =>
    eventually(async () => {
      const answer = await post(path, body);
      expect(answer.status).not.toBe(503);
      return answer;
    });

  test.each(['/account-provider-webhook', '/voice-provider'])(
    'sent concurrently to %s lead to one run',
    async (route) => {
      verifies('connector-events.one-run');
      const goal = `Once for ${route}`;
      const triggers = [
        { event: 'mail_received', agentflow_id: own.agentflowId, goal },
        { kind: 'voice', agentflow_id: own.agentflowId, goal },
      ];
      const connector = await connectorOf('mail', { triggers });
      const path =
        route === '/voice-provider'
          ? `${route}/${connector.triggers[1].trigger_id}`
          : `${route}/${own.workspace.projectID}/${connector._id}`;
      const bodyOf = (event_id: string) => JSON.stringify({ event: 'mail_received', event_id });
      const answers = await Promise.all(
        events.flatMap((event) => Array.from({ length: copies }, () => send(path, bodyOf(event)))),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const runs = () => executionsOf({ goal });
      await eventually(async () =>
        expect((await runs()).filter(({ status }) => status === 'completed')).toHaveLength(events.length),
      );
      await eventually(async () =>
        expect(
          (await deps.temporal.client.workflow.getHandle(connectorWorkflowId(connector._id)).describe()).status.name,
        ).toBe('COMPLETED'),
      );
      // The workflow has ended and remembers no events.
      const later = await Promise.all(events.map((event) => send(path, bodyOf(event))));
      expect(later.every(({ status }) => status === 200)).toBe(true);
      await collections.callback_deliveries.updateMany({}, { $set: { handed_over: false } });
      expect((await post(path, bodyOf('event-0'))).status).toBe(200);
      await eventually(async () =>
        expect(
          (await deps.temporal.client.workflow.getHandle(connectorWorkflowId(connector._id)).describe()).status.name,
        ).toBe('COMPLETED'),
      );
      expect((await runs()).map(({ input_variables }) => input_variables.trigger.event_id).sort()).toEqual(events);
    },
  );

  test('without an id lead to one run within a minute, and to another one later', async () => {
    verifies('connector-events.one-run');
    const connector = await connectorOf('mail', {
      triggers: [{ kind: 'media', agentflow_id: own.agentflowId, goal: 'Without an id' }],
    });
    const path = `/media-provider/${connector.triggers[0].trigger_id}`;
    const runs = () => executionsOf({ goal: 'Without an id', status: 'completed' });
    await Promise.all(Array.from({ length: 10 }, () => post(path, '{"done":true}')));
    await eventually(async () => expect(await runs()).toHaveLength(1));
    await collections.callback_deliveries.updateMany({}, { $set: { expires_at: new Date(0) } });
    await post(path, '{"done":true}');
    await eventually(async () => expect(await runs()).toHaveLength(2));
  });
});

describe('a connector without sender verification', () => {
  test('accepts the real event after a forged one with the same id', async () => {
    verifies('connector-events.forged-ids');
    const connector = await connectorOf('mail', {
      triggers: [{ event: 'mail_received', agentflow_id: own.agentflowId, goal: 'Forged and real' }],
    });
    const path = `/account-provider-webhook/${own.workspace.projectID}/${connector._id}`;
    for (const text of ['forged', 'real'])
      expect(await post(path, JSON.stringify({ event: 'mail_received', event_id: 'e-7', text }))).toMatchObject({
        status: 200,
      });
    await eventually(async () => {
      const found = await executionsOf({ goal: 'Forged and real', status: 'completed' });
      expect(found.map(({ input_variables }) => input_variables.payload.text).sort()).toEqual(['forged', 'real']);
    });
  });

  test('has triggers with ids that cannot be guessed', async () => {
    verifies('connector.trigger-ids');
    const { _id, triggers } = await connectorOf('mail', {
      triggers: ['voice', 'media'].map((kind) => ({ kind, agentflow_id: own.agentflowId })),
    });
    const ids = triggers.map(({ trigger_id }: any) => trigger_id as string);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      expect(id).toMatch(/^[\w-]{43}$/);
      expect(id).not.toContain(_id);
    }
  });
});

describe('a connector with a secret', () => {
  test('accepts only signed callbacks, and recognises a repeat by the fields that its trigger names', async () => {
    verifies('connector.callback-secret', 'callbacks.id-fields');
    const secret = 'a secret of sixteen letters';
    const triggers = [
      { event: 'mail_received', agentflow_id: own.agentflowId, goal: 'Signed', id_fields: ['event_id'] },
      { event: 'mail_received', agentflow_id: own.agentflowId, goal: 'Each body' },
      { kind: 'voice', agentflow_id: own.agentflowId, goal: 'Signed call' },
    ];
    const connector = await connectorOf('mail', { triggers, callback_secret: secret });
    expect(JSON.stringify(connector)).not.toContain(secret);
    expect(JSON.stringify(await collections.connectors.findOne({ _id: connector._id }))).not.toContain(secret);
    expect(connector.has_callback_secret).toBe(true);
    const signedPost = async (path: string, body: string, by: string) => {
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${hmac(by, body)}` };
      return (await fetch(own.workspace.api.url + path, { method: 'POST', headers, body })).status;
    };
    const paths = [
      `/account-provider-webhook/${own.workspace.projectID}/${connector._id}`,
      `/voice-provider/${connector.triggers[2].trigger_id}`,
    ];
    for (const path of paths) {
      const body = JSON.stringify({ event: 'mail_received', event_id: 'e-1' });
      expect(await post(path, body)).toMatchObject({ status: 401, body: { error: 'invalid_signature' } });
      expect(await signedPost(path, body, 'another secret of letters')).toBe(401);
      expect(await signedPost(path, body, secret)).toBe(200);
    }
    expect(
      await signedPost(paths[0]!, JSON.stringify({ event: 'mail_received', event_id: 'e-1', attempt: 2 }), secret),
    ).toBe(200);
    await eventually(async () =>
      expect(
        (await deps.temporal.client.workflow.getHandle(connectorWorkflowId(connector._id)).describe()).status.name,
      ).toBe('COMPLETED'),
    );
    expect(await executionsOf({ goal: 'Signed' })).toHaveLength(1);
    expect(await executionsOf({ goal: 'Each body' })).toHaveLength(2);
    const kept = await own.workspace.api.patch(`/connectors/${own.workspace.projectID}/${connector._id}`, {
      callback_secret: null,
    });
    expect(kept).toMatchObject({
      status: 400,
      body: { error_description: expect.stringContaining('id_fields require a callback_secret') },
    });
    const removed = await own.workspace.api.patch(`/connectors/${own.workspace.projectID}/${connector._id}`, {
      callback_secret: null,
      triggers: [{ event: 'mail_received', agentflow_id: own.agentflowId }],
    });
    expect(removed).toMatchObject({ status: 200, body: { has_callback_secret: false } });
    expect((await post(paths[0]!, '{"event":"mail_sent"}')).status).toBe(200);
  });
});

describe('triggers of one connector', () => {
  test('each receive the same body', async () => {
    verifies('callbacks.id-fields');
    const goals = ['First line', 'Second line'];
    const { triggers } = await connectorOf('mail', {
      triggers: goals.map((goal) => ({ kind: 'voice', agentflow_id: own.agentflowId, goal, id_fields: ['call'] })),
    });
    for (const { trigger_id } of triggers)
      for (const state of ['ringing', 'ended'])
        expect((await post(`/voice-provider/${trigger_id}`, JSON.stringify({ call: 'c1', state }))).status).toBe(200);
    for (const goal of goals) await eventually(async () => expect(await executionsOf({ goal })).toHaveLength(1));
  });

  test('cannot name the fields of an event without a secret', async () => {
    verifies('callbacks.id-fields');
    const { api, projectID } = own.workspace;
    const made = await api.post(`/actions/mail/config?projectID=${projectID}`, {
      name: 'Office',
      triggers: [{ event: '*', agentflow_id: own.agentflowId, id_fields: ['id'] }],
    });
    expect(made).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});
