import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { apiClient, type ApiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startExecution, untilExecution } from '../support/executions.js';
import { createKey, personOf, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { bearerClient, colleagueOf, createGatewayWorkspace, type GatewayWorkspace } from '../support/gateway.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const permit = { policy_id: 'all', effect: 'permit' };
const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model', 'tag.create', 'act.http'] };
const ofAdmins = { ...ask, approver_roles: ['PROJECT_ADMIN'] };
const needed = {
  status: 403,
  body: { error_description: 'only a person with the role PROJECT_ADMIN in this project decides' },
};

async function ruled(...rules: object[]): Promise<GatewayWorkspace> {
  const workspace = await createGatewayWorkspace(deps);
  expect(await store(workspace, ...rules)).toMatchObject({ status: 200 });
  return workspace;
}

const store = ({ gateway }: GatewayWorkspace, ...rules: object[]) =>
  gateway.put('/v1/policies', { policies: [permit, ...rules] });

const decide = (api: ApiClient, id: string, decision = 'approve') => api.post(`/v1/approvals/${id}/${decision}`, {});

async function heldAct(workspace: Workspace): Promise<string> {
  const id = await startExecution(workspace, flowThatCalls([`${sink.url}/${workspace.projectID}`]));
  return eventually(async () => {
    const { body } = await workspace.api.get(`/execute_flow/${id}`);
    expect(body.execution_context.waiting_for).toMatchObject({ kind: 'approval' });
    return body.execution_context.waiting_for.approval_id;
  });
}

describe('a rule that names approver_roles', () => {
  test.each<[string, (workspace: GatewayWorkspace) => Promise<string>]>([
    ['a gateway tool', async ({ gateway }) => (await gateway.post('/v1/save-model', { model: 'm' })).body.approval_id],
    [
      'a platform write',
      async ({ api, projectID }) => (await api.post(`/tag?projectID=${projectID}`, { name: 't' })).body.approval_id,
    ],
    ['an act', heldAct],
  ])('lets only people with such a role decide about %s', async (_, held) => {
    verifies('approval.named-roles');
    const workspace = await ruled(ofAdmins);
    const { projectID } = workspace;
    const id = await held(workspace);
    const [owner, admin] = await Promise.all([
      personOf(deps, workspace, { userId: newId() }),
      colleagueOf(deps, workspace, { role: 'PROJECT_ADMIN' }),
    ]);
    const key = await createKey(deps, { ...workspace, userId: newId() });
    for (const [gateway, api] of [
      [owner, owner],
      [bearerClient(key), apiClient(workspace.api.url, { 'x-api-key': key })],
    ] as const) {
      expect(await decide(gateway, id)).toMatchObject(needed);
      expect(await decide(gateway, id, 'reject')).toMatchObject(needed);
      expect(await api.post(`/inbox/approval:${id}/reply`, { decision: 'approve' })).toMatchObject(needed);
    }
    expect((await admin.get(`/v1/approvals/${id}`)).body).toMatchObject({
      status: 'pending',
      votes: [],
      approver_roles: ['PROJECT_ADMIN'],
      payload: expect.anything(),
    });
    expect((await admin.get(`/inbox?projectID=${projectID}`)).body.data).toMatchObject([
      { approval_id: id, body: { approver_roles: ['PROJECT_ADMIN'] } },
    ]);
    expect(await decide(admin, id)).toMatchObject({ status: 200, body: { votes: [{ role: 'PROJECT_ADMIN' }] } });
  });

  test('is bound to the approvals that it asked for: later rules do not change who decides', async () => {
    verifies('approval.named-roles');
    const workspace = await ruled(ofAdmins);
    const id = await heldAct(workspace);
    expect(await store(workspace, ask)).toMatchObject({ status: 200 });
    expect(await decide(await colleagueOf(deps, workspace, { role: 'ORG_ADMIN' }), id)).toMatchObject(needed);
    const admin = await colleagueOf(deps, workspace, { role: 'PROJECT_ADMIN' });
    expect(await decide(admin, id)).toMatchObject({ status: 200 });
  });

  test('applies to the person who started the run where the rule lets that person decide', async () => {
    verifies('approval.named-roles');
    const workspace = await ruled({ ...ofAdmins, starter_may_decide: true });
    const id = await heldAct(workspace);
    expect(await decide(await personOf(deps, workspace), id)).toMatchObject(needed);
    const starter = await personOf(deps, workspace, { role: 'PROJECT_ADMIN' });
    const { body } = await decide(starter, id);
    expect(body).toMatchObject({ status: expect.stringMatching(/approved|used/) });
    await untilExecution(workspace, body.execution_id, 'completed');
  });

  test('is stored only with roles that can decide, and only if it requires approval', async () => {
    verifies('approval.named-roles');
    const workspace = await createGatewayWorkspace(deps);
    for (const approver_roles of [[], ['MEMBER'], ['owner'], 'OWNER'])
      expect(await store(workspace, { ...ask, approver_roles })).toMatchObject({
        status: 400,
        body: { error_description: expect.stringContaining('approver_roles') },
      });
    expect(await store(workspace, { ...ofAdmins, effect: 'forbid' })).toMatchObject({
      status: 422,
      body: { error_description: 'ask: approver_roles belongs to require_approval' },
    });
    const own = { ...ask, tools: ['policies.replace'] };
    expect(
      await store(
        workspace,
        { ...own, policy_id: 'one', approver_roles: ['OWNER'] },
        { ...own, policy_id: 'two', approver_roles: ['PROJECT_ADMIN'] },
      ),
    ).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('no approver role in common') },
    });
  });

  test('applies together with other rules that require approval: people with a common role decide, and without a common role the call is forbidden', async () => {
    verifies('approval.named-roles');
    const owners = { ...ask, policy_id: 'owners', approver_roles: ['OWNER', 'PROJECT_ADMIN'] };
    const workspace = await ruled({ ...ask, policy_id: 'any' }, ofAdmins, owners);
    const evaluate = async () =>
      (await workspace.gateway.post('/v1/policies/evaluate', { tool: 'save-model', input: {} })).body;
    expect(await evaluate()).toMatchObject({ decision: 'require_approval', approver_roles: ['PROJECT_ADMIN'] });
    await store(workspace, ofAdmins, { ...owners, approver_roles: ['OWNER'] });
    expect(await evaluate()).toMatchObject({
      decision: 'forbid',
      policy_ids: ['ask', 'owners'],
      reason: 'the rules that ask for approval have no approver role in common',
    });
    await store(workspace, ask);
    expect(await evaluate()).toMatchObject({ decision: 'require_approval', approver_roles: null });
  });
});
