import { describe, expect, test } from '@jest/globals';
import { openConfig } from '../../../../src/domain/connectors/operations/store.js';
import { connectorLoadId } from '../../../../workflows/connector-load/messages.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { connectorOf, seldom } from './harness.js';

const deps = useDeps();
const { collections } = deps.mongo;

const scheduleOf = (id: string) => deps.temporal.client.schedule.getHandle(connectorLoadId(id)).describe();

describe('PATCH /connectors/{projectID}/{connector_id}', () => {
  const auth = { type: 'basic', username: 'ada', password: 'a secret password' };

  test('changes the given fields, keeps omitted secrets and returns none', async () => {
    verifies('platform.connectors.update', 'connector.config-shown');
    const workspace = await createWorkspace(deps);
    const config = {
      base_url: 'https://old.example/api',
      auth,
      headers: { 'x-tenant': 'a secret header' },
      timeout_ms: 5000,
    };
    const made = await connectorOf(workspace, 'restful', { config, tags: ['a'] });
    const shown = { ...config, auth: { ...auth, password: '[stored]' }, headers: { 'x-tenant': '[stored]' } };
    expect(made.config).toEqual(shown);
    const path = `/connectors/${workspace.projectID}/${made._id}`;
    const changed = await workspace.api.patch(path, {
      name: 'Renamed',
      config: { ...shown, base_url: 'https://old.example/v2', timeout_ms: null },
    });
    const { timeout_ms: _gone, ...rest } = shown;
    expect(changed).toMatchObject({
      status: 200,
      body: {
        _id: made._id,
        name: 'Renamed',
        tags: ['a'],
        status: 'active',
        config: { ...rest, base_url: 'https://old.example/v2' },
      },
    });
    const record = await collections.connectors.findOne({ _id: made._id });
    if (!record) throw new Error('the connector is gone');
    expect(openConfig(deps.auth.box, record)).toEqual({
      base_url: 'https://old.example/v2',
      auth,
      headers: { 'x-tenant': 'a secret header' },
    });
    for (const [body, text] of [
      [{ config: { base_url: 'ftp://x' } }, 'config.base_url'],
      [{ colour: 'red' }, 'colour'],
      [{ config: { auth: { type: 'hope' } } }, 'config.auth'],
    ] as const) {
      expect(await workspace.api.patch(path, body)).toMatchObject(refusal(400, 'invalid_request', text));
    }
    const stranger = await createWorkspace(deps);
    expect(await stranger.api.patch(`/connectors/${stranger.projectID}/${made._id}`, { name: 'Mine' })).toMatchObject(
      refusal(404, 'not_found'),
    );
    expect((await workspace.api.get(path)).body).toEqual(changed.body);
  });

  test.each([
    ['restful', { base_url: 'https://a.example', auth }, { base_url: 'https://b.example' }, 'auth.password'],
    ['restful', { base_url: 'https://a.example', auth }, { base_url: 'http://a.example' }, 'auth.password'],
    ['restful', { base_url: 'https://a.example', headers: { 'x-k': 's' } }, { base_url: null }, 'headers.x-k'],
    ['mail', { host: 'a.example', from: 'a@a.example', password: 's' }, { host: 'b.example' }, 'password'],
    [
      'content_creator',
      { account_api_url: 'https://a.example', account_api_token: 's' },
      { account_api_url: 'https://b.example', account_api_token: '[stored]' },
      'account_api_token',
    ],
    [
      'mcp',
      { url: 'https://a.example/mcp', auth: { type: 'header', name: 'x-k', value: 's' } },
      { url: 'https://b.example/mcp' },
      'auth.value',
    ],
  ])(
    'never sends the stored secrets of a %s connector to another server: %j, %j',
    async (category, config, change, name) => {
      verifies('platform.connectors.update');
      const workspace = await createWorkspace(deps);
      const made = await connectorOf(workspace, category, { config });
      const path = `/connectors/${workspace.projectID}/${made._id}`;
      const refused = await workspace.api.patch(path, { config: change });
      expect(refused).toMatchObject(refusal(400, 'invalid_request', `another server needs new values of ${name}`));
      expect((await workspace.api.get(path)).body.config).toEqual(made.config);
    },
  );

  test('sends new secrets to another server', async () => {
    verifies('platform.connectors.update');
    const workspace = await createWorkspace(deps);
    const made = await connectorOf(workspace, 'restful', { config: { base_url: 'https://a.example', auth } });
    const config = { base_url: 'https://b.example', auth: { ...auth, password: 'another password' } };
    const path = `/connectors/${workspace.projectID}/${made._id}`;
    expect(await workspace.api.patch(path, { config })).toMatchObject({
      status: 200,
      body: { config: { base_url: 'https://b.example', auth: { ...auth, password: '[stored]' } } },
    });
  });

  test('changes the times of its data loader, and keeps or replaces the ids of its triggers', async () => {
    verifies('platform.connectors.update');
    const workspace = await createWorkspace(deps);
    const flow = async (of: Workspace) =>
      (await of.api.post(`/agentflow?projectID=${of.projectID}`, { name: 'F' })).body._id as string;
    const [first, second] = [await flow(workspace), await flow(workspace)];
    const triggers = ['voice', 'media'].map((kind) => ({ kind, agentflow_id: first }));
    const made = await connectorOf(workspace, 'restful', { ...seldom, triggers });
    const path = `/connectors/${workspace.projectID}/${made._id}`;
    const [voice, media] = made.triggers;
    const changed = await workspace.api.patch(path, {
      data_loader_config: { frequency: 'daily', path: '/other' },
      triggers: [voice, { kind: 'voice', agentflow_id: second }],
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        data_loader_config: { frequency: 'daily' },
        triggers: [voice, { trigger_id: expect.stringMatching(/^[\w-]{43}$/) }],
      },
    });
    expect((await scheduleOf(made._id)).spec).toMatchObject({ intervals: [{ every: 86_400_000 }] });
    const ids = (await collections.connector_triggers.find({ connector_id: made._id }).toArray()).map(({ _id }) => _id);
    expect(ids.sort()).toEqual(changed.body.triggers.map(({ trigger_id }: any) => trigger_id).sort());
    expect(ids).not.toContain(media.trigger_id);
    expect(
      await workspace.api.patch(path, { data_loader_config: { frequency: '99 * * * *', path: '/x' } }),
    ).toMatchObject(refusal(400, 'invalid_request', 'frequency'));
    const foreign = await flow(await createWorkspace(deps));
    expect(await workspace.api.patch(path, { triggers: [{ event: 'x', agentflow_id: foreign }] })).toMatchObject(
      refusal(400, 'invalid_request', 'the project has no agentflow'),
    );
    expect(await workspace.api.delete(`/agentflow/${first}`)).toMatchObject({ status: 200 });
    expect(await workspace.api.patch(path, { triggers: changed.body.triggers })).toMatchObject({ status: 200 });
    const stored = (await workspace.api.get(path)).body;
    for (const field of ['data_loader_config', 'triggers', 'config'])
      expect([field, stored[field]]).toEqual([field, changed.body[field]]);
    expect(await workspace.api.patch(path, { data_loader_config: {} })).toMatchObject({ status: 200 });
    await expect(scheduleOf(made._id)).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
  });
});
