import { describe, expect, test } from '@jest/globals';
import type { Grant } from '../../../../src/auth/grants.js';
import { newId } from '../../../../src/base/ids.js';
import { ConnectorCategory } from '../../../../src/domain/connectors/record.js';
import { recordConnectorStatus } from '../../../../src/domain/connectors/operations/store.js';
import { connectorLoadId } from '../../../../workflows/connector-load/messages.js';
import { apiClient } from '../../../support/client.js';
import { createKey, createWorkspace, useDeps } from '../../../support/fixture.js';
import { ownProduct } from '../../../support/own-product.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { connectorOf, seldom } from './harness.js';

const deps = useDeps();
const { collections } = deps.mongo;
const product = ownProduct({ DOWNSTREAM_PORT: '0' });

const scheduleOf = (id: string) => deps.temporal.client.schedule.getHandle(connectorLoadId(id)).describe();

describe('POST /actions/{category}/config', () => {
  test.each(ConnectorCategory.options)(
    'creates a connector of the category %s and returns its configuration',
    async (category) => {
      verifies('platform.connectors.configure', 'resource.connector-configuration');
      const workspace = await createWorkspace(deps);
      const { projectID, userId, organizationId } = workspace;
      const given = {
        ...{
          name: 'Office',
          tags: ['a', 'b'],
          triggers: [{ event: 'x', goal: 'Answer' }],
          actions: ['send', { id: 1 }],
        },
        data_loader_config:
          category === 'mail' || category === 'mcp'
            ? {}
            : { frequency: 'interval', syncInterval: 86_400, path: '/records' },
      };
      const config = { base_url: 'http://127.0.0.1:1', account_api_url: 'http://127.0.0.1:1', own: { field: true } };
      const server = category === 'mcp' ? { url: 'http://127.0.0.1:1' } : {};
      const made = await connectorOf(workspace, category, {
        ...given,
        category,
        projectID,
        user_id: 'somebody',
        org_id: 'an organization',
        config: { ...config, ...server },
      });
      expect(made).toMatchObject({ ...given, category, projectID, user_id: userId, org_id: organizationId });
      expect(made.config).toEqual({
        base_url: 'http://127.0.0.1:1',
        account_api_url: 'http://127.0.0.1:1',
        own: '[stored]',
        ...server,
      });
      expect(made.status).toBe(['restful', 'content_creator', 'mcp'].includes(category) ? 'active' : 'pending');
      expect(await connectorOf(workspace, category, { ...given, config: { ...config, ...server } })).toMatchObject({
        ...given,
        org_id: organizationId,
      });
      await Promise.all(
        (await collections.connectors.find({ projectID }).toArray()).map(({ _id }) =>
          workspace.api.delete(`/connectors/${projectID}/${_id}`),
        ),
      );
    },
  );

  test('loads on either day if the cron expression has a day of the month and a day of the week', async () => {
    const workspace = await createWorkspace(deps);
    const { _id, projectID } = await connectorOf(workspace, 'restful', {
      ...seldom,
      data_loader_config: { frequency: 'CRON_TZ=Europe/Oslo 30 9 13 * FRI', path: '/nothing' },
    });
    const { spec, info } = await scheduleOf(_id);
    expect(spec.timezone).toBe('Europe/Oslo');
    const days = info.nextActionTimes.map((at) => [at.getUTCDay() === 5, at.getUTCDate() === 13]);
    expect(days).toContainEqual([true, false]);
    expect(days).not.toContainEqual([false, false]);
    await workspace.api.delete(`/connectors/${projectID}/${_id}`);
  });

  test('creates one connector from calls with one Idempotency-Key, with one pin and one schedule', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const path = `/actions/messaging/config?projectID=${projectID}`;
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all([1, 2, 3].map(() => api.post(path, { name: 'One' }, key)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body });
    expect((await api.get(`/connectors/${projectID}`)).body).toMatchObject({ total_count: 1 });
    expect(await api.post(path, { name: 'Two' }, key)).toMatchObject(refusal(409, 'conflict'));
  });

  test.each([
    [
      'an unknown category',
      'telepathy',
      {},
      refusal(404, 'not_found', 'content_creator, messaging, professional_network, mail, restful'),
    ],
    ['another category in the body', 'mail', { category: 'restful' }, refusal(400, 'invalid_request', 'category')],
    ['an unknown field', 'mail', { colour: 'red' }, refusal(400, 'invalid_request', 'colour')],
    ['a blank name', 'mail', { name: ' ' }, refusal(400, 'invalid_request', 'name')],
    [
      'an invalid base URL',
      'restful',
      { config: { base_url: 'ftp://x' } },
      refusal(400, 'invalid_request', 'config.base_url'),
    ],
    [
      'a base URL with a password',
      'restful',
      { config: { base_url: 'http://a:s3cret@x.example' } },
      refusal(400, 'invalid_request', 'config.base_url'),
    ],
    [
      'an unknown authentication',
      'restful',
      { config: { auth: { type: 'hope' } } },
      refusal(400, 'invalid_request', 'config.auth'),
    ],
    [
      'a header over two lines',
      'restful',
      { config: { headers: { 'x-a': 'b\r\nhost: c' } } },
      refusal(400, 'invalid_request', 'config.headers.x-a'),
    ],
    [
      'an invalid frequency',
      'restful',
      { ...seldom, data_loader_config: { frequency: 'sometimes', path: '/x' } },
      refusal(400, 'invalid_request', 'frequency'),
    ],
    [
      'an invalid cron expression',
      'restful',
      { ...seldom, data_loader_config: { frequency: '99 * * * *', path: '/x' } },
      refusal(400, 'invalid_request', 'frequency'),
    ],
    [
      'the first Monday, which Temporal reads as every Monday',
      'restful',
      { ...seldom, data_loader_config: { frequency: '0 9 * * MON#1', path: '/x' } },
      refusal(400, 'invalid_request', 'must not contain "#"'),
    ],
    [
      'an interval without its length',
      'restful',
      { ...seldom, data_loader_config: { frequency: 'interval', path: '/x' } },
      refusal(400, 'invalid_request', 'syncInterval'),
    ],
    [
      'a loader without a source',
      'restful',
      { ...seldom, data_loader_config: { syncInterval: 60 } },
      refusal(400, 'invalid_request', 'data_loader_config'),
    ],
    [
      'a misspelled field of a trigger',
      'restful',
      { triggers: [{ event: 'x', agentflowId: 'a' }] },
      refusal(400, 'invalid_request', 'triggers.0: unknown field "agentflowId"; known are event, agentflow_id'),
    ],
    [
      'a misspelled field of a loader',
      'restful',
      { data_loader_config: { frequency: 'daily', path: '/x', sync_interval: 60 } },
      refusal(400, 'invalid_request', 'data_loader_config: unknown field "sync_interval"'),
    ],
    [
      'a loader with an unknown action',
      'restful',
      { ...seldom, data_loader_config: { syncInterval: 60, action_id: 'x' } },
      refusal(400, 'invalid_request', 'action_id'),
    ],
    [
      'a trigger with an unknown agentflow',
      'mail',
      { triggers: [{ event: 'x', agentflow_id: 'unknown' }] },
      refusal(400, 'invalid_request', 'triggers: the project has no agentflow "unknown"'),
    ],
    [
      'a name without a visible character',
      'mail',
      { name: ' \u200B\u2060' },
      refusal(400, 'invalid_request', 'name: must contain a visible character'),
    ],
  ])('refuses %s and stores nothing', async (_, category, fields, expected) => {
    const { api, projectID } = await createWorkspace(deps);
    const answer = await api.post(`/actions/${category}/config?projectID=${projectID}`, { name: 'Office', ...fields });
    expect(answer).toMatchObject(expected);
    expect(JSON.stringify(answer.body)).not.toContain('s3cret');
    expect((await api.get(`/connectors/${projectID}`)).body).toMatchObject({ total_count: 0 });
  });
});

describe('GET /actions/{category}/config, /connectors/{projectID}/{connector_id}', () => {
  test('return the connector without its secrets, only in its own project', async () => {
    verifies('platform.connectors.configuration', 'platform.connectors.get');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const config = { account_api_url: 'https://accounts.example.com', account_api_token: 'tok-s3cret' };
    const { notify_path, ...made } = await connectorOf(workspace, 'messaging', { config });
    const [configuration, record] = [
      `/actions/messaging/config?projectID=${projectID}&connector_id=${made._id}`,
      `/connectors/${projectID}/${made._id}`,
    ];
    for (const path of [configuration, record]) {
      const { status, body } = await api.get(path);
      expect([status, body]).toEqual([200, made]);
      for (const secret of ['tok-s3cret', notify_path.split('/').at(-1)])
        expect(JSON.stringify(body)).not.toContain(secret);
    }
    expect(await api.get(configuration.replace('messaging', 'mail'))).toMatchObject(refusal(404, 'not_found'));
    for (const id of [newId(), 'x', '%00', '$ne'])
      expect(await api.get(`/connectors/${projectID}/${id}`)).toMatchObject(refusal(404, 'not_found'));
    const stranger = await createWorkspace(deps);
    expect(await stranger.api.get(record)).toMatchObject(refusal(403, 'access_denied'));
    const reached = `/connectors/${stranger.projectID}/${made._id}`;
    expect(await stranger.api.get(reached)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.delete(reached)).toMatchObject(refusal(404, 'not_found'));
    expect(await stranger.api.post(`${reached}/status`, { status: 'active' })).toMatchObject(refusal(404, 'not_found'));
    expect((await api.get(record)).body).toEqual(made);
  });
});

describe('GET /connectors/{projectID}', () => {
  test('lists the connectors of the project, newest first, by page, category and status', async () => {
    verifies('platform.connectors.list');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    await connectorOf(await createWorkspace(deps), 'mail');
    const ids: string[] = [];
    for (const category of ['mail', 'restful', 'mail']) ids.unshift((await connectorOf(workspace, category))._id);
    const first = (await api.get(`/connectors/${projectID}?limit=2`)).body;
    const second = (await api.get(`/connectors/${projectID}?limit=2&cursor=${first.next_cursor}`)).body;
    expect([...first.data, ...second.data].map(({ _id }: any) => _id)).toEqual(ids);
    expect([first.total_count, second.next_cursor]).toEqual([3, null]);
    expect((await api.get(`/connectors/${projectID}?category=mail`)).body).toMatchObject({
      total_count: 2,
      data: [{ _id: ids[0] }, { _id: ids[2] }],
    });
    expect((await api.get(`/connectors/${projectID}?status=active`)).body).toMatchObject({
      total_count: 1,
      data: [{ _id: ids[1] }],
    });
    expect(await api.get(`/connectors/${projectID}?status=happy`)).toMatchObject(
      refusal(400, 'invalid_request', 'status'),
    );
  });
});

describe('POST /connectors/{projectID}/{connector_id}/status', () => {
  test('changes the state of a connector and refuses transitions that are not allowed', async () => {
    verifies('platform.connectors.status');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const { _id } = await connectorOf(workspace, 'messaging');
    const set = (status: string) => api.post(`/connectors/${projectID}/${_id}/status`, { status });
    const states = ['pending', 'awaiting_verification', 'active', 'paused', 'failed'] as const;
    const moves: Record<string, string[]> = {
      pending: ['active'],
      awaiting_verification: ['active', 'failed', 'pending'],
      active: ['paused'],
      paused: ['active'],
      failed: ['pending'],
    };
    for (const from of states) {
      for (const to of states) {
        await collections.connectors.updateOne({ _id }, { $set: { status: from } });
        const answer = await set(to);
        if (moves[from]?.includes(to))
          expect([from, to, answer]).toMatchObject([from, to, { status: 200, body: { _id, status: to } }]);
        else expect([from, to, answer]).toMatchObject([from, to, refusal(409, 'conflict', `is ${from}`)]);
        expect((await collections.connectors.findOne({ _id }))?.status).toBe(answer.status === 200 ? to : from);
      }
    }
    expect(await set('on holiday')).toMatchObject(refusal(400, 'invalid_request', 'status'));
  });

  test('applies one of two concurrent transitions, and no callback resumes a paused connector', async () => {
    const workspace = await createWorkspace(deps);
    const { _id } = await connectorOf(workspace);
    const set = (status: string) => workspace.api.post(`/connectors/${workspace.projectID}/${_id}/status`, { status });
    const statuses = (await Promise.all([set('paused'), set('paused'), set('paused')])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409]);
    await recordConnectorStatus(collections, _id, 'active');
    expect((await workspace.api.get(`/connectors/${workspace.projectID}/${_id}`)).body.status).toBe('paused');
  });

  test('pauses and resumes the schedule of the data loader', async () => {
    const workspace = await createWorkspace(deps);
    const { _id } = await connectorOf(workspace, 'restful', seldom);
    const set = (status: string) => workspace.api.post(`/connectors/${workspace.projectID}/${_id}/status`, { status });
    expect((await scheduleOf(_id)).state.paused).toBe(false);
    expect((await set('paused')).status).toBe(200);
    expect((await scheduleOf(_id)).state.paused).toBe(true);
    expect((await set('active')).status).toBe(200);
    expect((await scheduleOf(_id)).state.paused).toBe(false);
    await workspace.api.delete(`/connectors/${workspace.projectID}/${_id}`);
  });
});

describe('DELETE /connectors/{projectID}/{connector_id}', () => {
  test('returns the last record and removes secrets, pin, triggers and schedule', async () => {
    verifies('platform.connectors.delete');
    // Callbacks go to the process's own listener: another process may use the default port.
    const workspace = product.through(await product.api(), await createWorkspace(deps));
    const { api, projectID } = workspace;
    const flow = await api.post(`/agentflow?projectID=${projectID}`, { name: 'F', agents: [{ title: 'A' }] });
    const triggers = [{ kind: 'voice', agentflow_id: flow.body._id }];
    const loaded = await connectorOf(workspace, 'restful', { ...seldom, triggers });
    const { notify_path, ...hosted } = await connectorOf(workspace, 'mail', {
      triggers: [{ event: '*', agentflow_id: flow.body._id }],
    });
    const webhook = `/account-provider-webhook/${projectID}/${hosted._id}`;
    expect((await api.post(webhook, { event: 'none' })).status).toBe(200);
    expect(await api.delete(`/connectors/${projectID}/${loaded._id}`)).toMatchObject({ status: 200, body: loaded });
    expect(await api.delete(`/connectors/${projectID}/${hosted._id}`)).toMatchObject({ status: 200, body: hosted });
    for (const path of [notify_path, webhook, `/voice-provider/${loaded.triggers[0].trigger_id}`]) {
      expect([path, await api.post(path, { event_id: newId() })]).toMatchObject([path, refusal(404, 'not_found')]);
    }
    await expect(scheduleOf(loaded._id)).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
    expect(await collections.connectors.findOne({ _id: loaded._id })).toMatchObject({
      config_sealed: '',
      pin_sealed: '',
      pin_hash: '',
    });
    expect(await collections.connector_triggers.countDocuments({ connector_id: loaded._id })).toBe(0);
    for (const { _id } of [loaded, hosted]) {
      const path = `/connectors/${projectID}/${_id}`;
      expect(await api.get(path)).toMatchObject(refusal(404, 'not_found'));
      expect(await api.delete(path)).toMatchObject(refusal(404, 'not_found'));
      expect(await api.post(`${path}/status`, { status: 'paused' })).toMatchObject(refusal(404, 'not_found'));
    }
    expect((await api.get(`/connectors/${projectID}`)).body).toMatchObject({ total_count: 0 });
  });
});

describe('GET /actions/professional_network/params', () => {
  test('returns the parameters of the provider and whether they are set', async () => {
    verifies('platform.connectors.params');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const path = `/actions/professional_network/params?projectID=${projectID}`;
    const isSet = ({ body }: any) => Object.fromEntries(body.params.map((param: any) => [param.name, param.is_set]));
    const before = await api.get(path);
    expect(before).toMatchObject({ status: 200, body: { category: 'professional_network', connector_id: null } });
    expect(isSet(before)).toEqual({ account_api_url: false, account_api_token: false });
    expect(before.body.operations.map(({ name }: any) => name)).toEqual(
      expect.arrayContaining(['send_invitation', 'get_profile', 'send_message']),
    );
    const older = await connectorOf(workspace, 'professional_network', {
      config: { account_api_url: 'https://a.example', account_api_token: 's3cret-token' },
    });
    const newer = await connectorOf(workspace, 'professional_network', {
      config: { account_api_url: 'https://a.example' },
    });
    const newest = await api.get(path);
    expect([newest.body.connector_id, isSet(newest)]).toEqual([
      newer._id,
      { account_api_url: true, account_api_token: false },
    ]);
    const named = await api.get(`${path}&connector_id=${older._id}`);
    expect(isSet(named)).toEqual({ account_api_url: true, account_api_token: true });
    expect(JSON.stringify(named.body)).not.toContain('s3cret');
    expect(await api.get(`${path}&connector_id=${newId()}`)).toMatchObject(refusal(404, 'not_found'));
  });
});

describe('GET /actions/triggers', () => {
  test('lists the trigger actions of all categories, or of one', async () => {
    verifies('platform.connectors.triggers');
    const { api } = await createWorkspace(deps);
    const all = await api.get('/actions/triggers');
    expect(all).toMatchObject({ status: 200, body: { total_count: all.body.data.length, next_cursor: null } });
    expect([...new Set(all.body.data.map(({ category }: any) => category))].sort()).toEqual(
      // MCP servers send no events.
      ConnectorCategory.options.filter((category) => category !== 'mcp').sort(),
    );
    const { body } = await api.get('/actions/triggers?category=mail');
    expect(body.data).toEqual(all.body.data.filter(({ category }: any) => category === 'mail'));
    expect(body.data.map(({ event }: any) => event)).toContain('mail_received');
  });
});

test('connector routes require svc:orchestrate.read to read, svc:skill.write to create and svc:orchestrate.write to change', async () => {
  const workspace = await createWorkspace(deps);
  const { projectID } = workspace;
  const made = await connectorOf(workspace);
  const path = `/connectors/${projectID}/${made._id}`;
  const keyed = async (...grants: Grant[]) =>
    apiClient(workspace.api.url, { 'x-api-key': await createKey(deps, workspace, { grants }) });
  const nothing = await keyed('svc:query.read');
  for (const read of [
    `/connectors/${projectID}`,
    path,
    `/actions/restful/config?connector_id=${made._id}`,
    '/actions/triggers',
    '/actions/professional_network/params',
  ]) {
    expect(await nothing.get(read)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.read'));
  }
  const reader = await keyed('svc:orchestrate.read');
  expect(await reader.post('/actions/restful/config', { name: 'X' })).toMatchObject(
    refusal(403, 'access_denied', 'svc:skill.write'),
  );
  expect(await reader.delete(path)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.write'));
  expect(await reader.post(`${path}/status`, { status: 'paused' })).toMatchObject(
    refusal(403, 'access_denied', 'svc:orchestrate.write'),
  );
  expect((await reader.get(`/connectors/${projectID}`)).body).toMatchObject({ total_count: 1, data: [made] });
});
