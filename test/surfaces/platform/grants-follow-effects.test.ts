import { describe, expect, test } from '@jest/globals';
import type { Grant } from '../../../src/auth/grants.js';
import { newId } from '../../../src/base/ids.js';
import { createPerson } from '../../auth/auth-server.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { createKey, createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { testRun } from '../../support/run.js';
import { file, send } from '../../support/uploads.js';
import { verifies } from '../../support/verifies.js';
import { connectorOf } from './connectors/harness.js';
import { coworker, runsOf, scheduled, soon } from './schedules/schedules.js';

const deps = useDeps();
const { collections } = deps.mongo;
const { url } = testRun();

async function keyWith(workspace: Workspace, ...grants: Grant[]): Promise<ApiClient> {
  return apiClient(url, {
    'x-api-key': await createKey(deps, workspace, { grants: ['svc:orchestrate.read', ...grants] }),
  });
}

const lacks = (grant: string) => ({
  status: 403,
  body: { error: 'access_denied', error_description: expect.stringContaining(grant) },
});

async function rules(workspace: Workspace, ...policies: object[]): Promise<void> {
  const all = { policy_id: 'all', effect: 'permit' };
  const gateway = bearerClient(workspace.apiKey);
  expect(await gateway.put('/v1/policies', { policies: [all, ...policies] })).toMatchObject({ status: 200 });
}

describe('a key with svc:orchestrate.write alone', () => {
  test('cannot make or change a schedule, but can pause it', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const narrow = await keyWith(workspace, 'svc:orchestrate.write');
    const coworker_id = await coworker(workspace);
    const times = { type: 'interval', frequency: 86_400, schedule: soon(86_400) };
    const { projectID } = workspace;
    expect(
      await narrow.post(`/schedule/coworker?projectID=${projectID}`, { coworker_id, goal: 'x', ...times }),
    ).toMatchObject(lacks('svc:agent.run'));
    const { _id } = await scheduled(workspace, { coworker_id, ...times });
    const path = `/schedule/coworker/${_id}`;
    expect(await narrow.patch(path, { goal: 'other' })).toMatchObject(lacks('svc:agent.run'));
    expect(await narrow.patch(path, { status: 'paused', reason: 'moved' })).toMatchObject({ status: 200 });
    expect(await narrow.patch(path, { status: 'active' })).toMatchObject(lacks('svc:agent.run'));
  });

  test('cannot redirect a connector or add triggers to it, but can rename it', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const narrow = await keyWith(workspace, 'svc:orchestrate.write');
    const skilled = await keyWith(workspace, 'svc:orchestrate.write', 'svc:skill.write');
    const agentflow_id = await coworker(workspace);
    const { _id } = await connectorOf(workspace, 'restful', { config: { base_url: 'https://a.example' } });
    const path = `/connectors/${workspace.projectID}/${_id}`;
    const triggers = [{ event: '*', agentflow_id }];
    expect(await narrow.patch(path, { config: { base_url: 'https://b.example' } })).toMatchObject(
      lacks('svc:skill.write'),
    );
    expect(await narrow.patch(path, { triggers })).toMatchObject(lacks('svc:skill.write'));
    expect(await skilled.patch(path, { triggers })).toMatchObject(lacks('svc:agent.run'));
    expect(await skilled.patch(path, { data_loader_config: { frequency: 'daily', path: '/x' } })).toMatchObject(
      lacks('svc:ontology.write'),
    );
    expect(await narrow.patch(path, { name: 'Renamed' })).toMatchObject({ status: 200, body: { name: 'Renamed' } });
  });

  test('cannot store skills in an agentflow, by hiring neither, but can change its other fields', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const { projectID } = workspace;
    const narrow = await keyWith(workspace, 'svc:orchestrate.write');
    const agents = [{ _id: 'a', title: 'A', prompt: { template: 'x' }, skills: [{ name: 'S' }] }];
    const made = await workspace.api.post(`/agentflow?projectID=${projectID}`, { name: 'F', agents });
    const path = `/agentflow/${made.body._id}`;
    expect(await narrow.post(`/agentflow?projectID=${projectID}`, { name: 'G', agents })).toMatchObject(
      lacks('svc:skill.write'),
    );
    expect(await narrow.patch(path, { agents })).toMatchObject(lacks('svc:skill.write'));
    expect(await narrow.post(`${path}/agent/a`, { skills: agents[0]?.skills })).toMatchObject(lacks('svc:skill.write'));
    expect(await narrow.patch(path, { description: 'other' })).toMatchObject({ status: 200 });
    const published = await workspace.api.post(`/marketplace?projectID=${projectID}`, {
      agentflow_id: made.body._id,
      notes: '',
    });
    const hire = `/marketplace/coworker/${published.body._id}/hire?projectID=${projectID}`;
    expect(await narrow.post(hire, {})).toMatchObject(lacks('svc:skill.write'));
    expect(await workspace.api.post(hire, {})).toMatchObject({ status: 201 });
  });

  test('cannot have facts extracted from an upload, whatever the order of the fields; nothing is stored', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const narrow = await keyWith(workspace, 'svc:orchestrate.write');
    const path = `/knowledge_base/${workspace.projectID}/upload`;
    const extract = { name: 'extract', content: 'true' };
    const text = file('a.txt', 'Ada lives in London.');
    for (const parts of [
      [extract, text],
      [text, extract],
      [{ ...extract, content: 'false' }, text, extract],
    ])
      expect(await send(narrow, path, parts)).toMatchObject(lacks('svc:ontology.write'));
    expect(await collections.files.countDocuments({ projectID: workspace.projectID, status: 'ready' })).toBe(0);
    expect(await send(narrow, path, [text])).toMatchObject({ status: 202 });
  });
});

describe('the rules of what a call causes', () => {
  test('hold and forbid an upload that extracts facts, by remember and by the fact extract', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const path = `/knowledge_base/${workspace.projectID}/upload`;
    const upload = (value: string) =>
      send(workspace.api, path, [file('a.txt', 'Ada.'), { name: 'extract', content: value }]);
    for (const [rule, error] of [
      [{ effect: 'forbid', tools: ['remember'] }, 'S5:policy'],
      [{ effect: 'require_approval', tools: ['remember'] }, 'S6:approval'],
      [{ effect: 'forbid', tools: ['knowledge.upload'], when: 'context.input.extract' }, 'S5:policy'],
    ] as const) {
      await rules(workspace, { policy_id: 'no', ...rule });
      expect(await upload('true')).toMatchObject({ status: 403, body: { error } });
      expect(await upload('false')).toMatchObject({ status: 202 });
    }
  });

  test('forbid a key to trigger or backfill a schedule of a person whose runs it may not start', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const { _id } = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 3600 });
    await rules(workspace, {
      ...{ policy_id: 'no-keys', effect: 'forbid', tools: ['execution.start'] },
      when: `context.input.agentflow_id == "${coworker_id}" && principal.kind == "api_key"`,
    });
    const denied = { status: 403, body: { error: 'S5:policy' } };
    expect(await workspace.api.post(`/schedule/coworker/${_id}/trigger`, {})).toMatchObject(denied);
    const range = { from: soon(-7200), to: soon(-60) };
    expect(await workspace.api.post(`/schedule/coworker/${_id}/backfill`, range)).toMatchObject(denied);
    expect((await runsOf(workspace, _id)).data).toEqual([]);
  });

  test('forbid a retention where executions may not be deleted, but not its end', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    await rules(workspace, { policy_id: 'kept', effect: 'forbid', tools: ['execution.delete'] });
    const days = (completed_days: number | null) =>
      workspace.api.patch(`/settings/${workspace.projectID}`, {
        execution_retention: { completed_days, failed_days: null, cancelled_days: null },
      });
    expect(await days(1)).toMatchObject({ status: 403, body: { error: 'S5:policy' } });
    expect(await days(null)).toMatchObject({ status: 200 });
  });

  test('forbid a schedule for an agentflow that may not run, and hold one that needs an approval', async () => {
    verifies('operation.caused-grants');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const make = (id: string) =>
      workspace.api.post(`/schedule/coworker?projectID=${workspace.projectID}`, {
        ...{ coworker_id: id, goal: 'x', type: 'interval', frequency: 86_400, schedule: soon(86_400) },
      });
    const when = `context.input.agentflow_id == "${coworker_id}"`;
    await rules(workspace, { policy_id: 'no', effect: 'forbid', tools: ['run-agent'], when });
    expect(await make(coworker_id)).toMatchObject({ status: 403, body: { error: 'S5:policy' } });
    expect(await make(await coworker(workspace))).toMatchObject({ status: 201 });
    await rules(workspace, { policy_id: 'ask', effect: 'require_approval', tools: ['run-agent'], when });
    expect(await make(coworker_id)).toMatchObject({ status: 202, body: { status: 'pending_approval' } });
  });
});

describe('work in the background that a key caused', () => {
  test('names the key, is seen by rules about keys, and ends when the key is revoked', async () => {
    verifies('operation.caused-authority');
    const workspace = await createWorkspace(deps);
    const narrow = await createKey(deps, workspace, {
      grants: ['svc:orchestrate.read', 'svc:orchestrate.write', 'svc:agent.run'],
    });
    const api = apiClient(url, { 'x-api-key': narrow });
    const coworker_id = await coworker(workspace);
    const theirs = { ...workspace, api, apiKey: narrow };
    const { _id } = await scheduled(theirs, {
      coworker_id,
      type: 'interval',
      frequency: 86_400,
      schedule: soon(86_400),
    });
    const path = `/schedule/coworker/${_id}`;
    const failedBecause = (text: string) =>
      eventually(async () => {
        const { data } = await runsOf(workspace, _id);
        expect(data[0]).toMatchObject({ status: 'failed', error: expect.stringContaining(text) });
      });
    expect(await workspace.api.post(`${path}/trigger`)).toMatchObject({ status: 200 });
    const key = await collections.api_keys.findOne({
      'scope.grants': { $size: 3 },
      'scope.project_id': workspace.projectID,
    });
    await eventually(async () => {
      const started = await collections.lifecycles.findOne({
        project_id: workspace.projectID,
        tool: 'execution.start',
      });
      expect(started?.principal).toMatchObject({ kind: 'api_key', user_id: workspace.userId, key_id: key?.id });
    });
    const when = 'principal.kind == "api_key" && context.channel == "schedule"';
    await rules(workspace, {
      policy_id: 'no-keys',
      description: 'Keys run nothing.',
      effect: 'forbid',
      tools: ['run-agent'],
      when,
    });
    expect(await workspace.api.post(`${path}/trigger`)).toMatchObject({ status: 200 });
    await failedBecause('Keys run nothing.');
    await rules(workspace);

    await collections.api_keys.updateOne({ id: key?.id ?? '' }, { $set: { revoked_at: 1 } });
    expect(await workspace.api.post(`${path}/trigger`)).toMatchObject({ status: 200 });
    await failedBecause('was revoked');
    await eventually(async () =>
      expect(
        (await workspace.api.get(`/schedule/coworker?projectID=${workspace.projectID}`)).body.data[0],
      ).toMatchObject({ ...{ status: 'paused', reason: expect.stringContaining('was revoked') } }),
    );
    const other = await createPerson(deps, { workspace, role: 'PROJECT_ADMIN' });
    const person = await personOf(deps, workspace, { userId: other.userId, role: 'PROJECT_ADMIN' });
    expect(await person.patch(path, { status: 'active' })).toMatchObject({ body: { created_by: other.userId } });
  });

  test('pauses a connector with the reason when the key of its owner is revoked, and not when the key expires', async () => {
    verifies('operation.caused-authority', 'auth.keys.expired');
    const workspace = await createWorkspace(deps);
    const agentflow_id = await coworker(workspace);
    const connector = await connectorOf(workspace, 'restful', {
      ...{ config: { base_url: 'https://a.example' }, triggers: [{ event: '*', agentflow_id }] },
    });
    const event = () =>
      apiClient(url).post(`/account-provider-webhook/${workspace.projectID}/${connector._id}`, { event: newId() });
    expect((await event()).status).toBe(200);
    const observer = await keyWith(workspace);
    const ofOwner = { 'scope.project_id': workspace.projectID, 'scope.grants': 'svc:skill.write' };
    await collections.api_keys.updateMany(ofOwner, { $set: { expires_at: 1 } });
    expect((await workspace.api.get('/agentflow')).status).toBe(401);
    expect((await event()).status).toBe(200);
    await collections.api_keys.updateMany(ofOwner, { $set: { revoked_at: 1 } });
    expect((await event()).status).toBe(404);
    expect(await observer.get(`/connectors/${workspace.projectID}/${connector._id}`)).toMatchObject({
      body: { status: 'paused', status_reason: expect.stringContaining('was revoked') },
    });
  });
});

describe('DELETE /file/{projectID}/{file_id} of a knowledge document', () => {
  test('is refused in governed mode and always audited; other files need neither', async () => {
    verifies('operation.governed-mode');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const upload = async (path: string) => (await send(api, path, [file('a.txt', 'Ada.')])).body.data[0];
    const { file: document } = await upload(`/knowledge_base/${projectID}/upload`);
    const plain = await upload(`/file/${projectID}`);
    const gateway = bearerClient(workspace.apiKey);
    const setMode = (mode: string) => gateway.put(`/v1/projects/${projectID}/mode`, { mode });
    expect(await setMode('governed')).toMatchObject({ status: 200 });
    expect(await api.delete(`/file/${projectID}/${document._id}`)).toMatchObject({
      ...{ status: 403, body: { error: 'S5:policy' } },
    });
    expect(await api.delete(`/file/${projectID}/${plain._id}`)).toMatchObject({ status: 200 });
    expect(await setMode('simple')).toMatchObject({ status: 200 });
    expect(await api.delete(`/file/${projectID}/${document._id}`)).toMatchObject({ status: 200 });
    const { body } = await gateway.get('/v1/audit');
    const deleted = body.data.filter(({ action }: { action: string }) => action === 'file.delete');
    expect(deleted.map(({ outcome }: { outcome: string }) => outcome.split(':')[0])).toEqual(['completed', 'denied']);
  });
});
