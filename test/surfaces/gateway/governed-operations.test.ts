import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { prepareExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { colleagueOf, createGatewayWorkspace, type GatewayWorkspace } from '../../support/gateway.js';
import { coworker, scheduled } from '../platform/schedules/schedules.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const all = { policy_id: 'all', effect: 'permit' };
const refused = { status: 403, body: { error: 'S5:policy' } };

async function ruled(...rules: object[]): Promise<GatewayWorkspace> {
  const workspace = await createGatewayWorkspace(deps);
  await rule(workspace, ...rules);
  return workspace;
}

async function rule({ gateway }: GatewayWorkspace, ...rules: object[]): Promise<void> {
  const named = rules.map((each, at) => ({ policy_id: `rule-${at}`, ...each }));
  expect(await gateway.put('/v1/policies', { policies: [all, ...named] })).toMatchObject({ status: 200 });
}

async function promotedFlow({ api, projectID }: GatewayWorkspace): Promise<string> {
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([]));
  expect(await api.post(`/agentflow/${body._id}/promote`)).toMatchObject({ status: 200 });
  return body._id;
}

describe('a rule about running an agentflow', () => {
  test.each(['run-agent', 'execution.start'])(
    'written for %s applies to the tool, both steps of the platform, reruns and schedules',
    async (name) => {
      verifies('operation.no-bypass');
      const workspace = await createGatewayWorkspace(deps);
      const { api, gateway, projectID } = workspace;
      const agentflow_id = await promotedFlow(workspace);
      const { execution_id: ready } = await prepareExecution(workspace, flowThatCalls([]));
      const { execution_id: over } = await prepareExecution(workspace, flowThatCalls([]));
      await api.post(`/execute_flow/${over}/execute`);
      await eventually(async () => expect((await api.get(`/execute_flow/${over}`)).body.status).toBe('completed'));
      const coworkerId = await coworker(workspace);
      const schedule = await scheduled(workspace, { coworker_id: coworkerId, type: 'interval', frequency: 86_400 });
      await rule(workspace, { effect: 'forbid', tools: [name], description: 'Nothing runs.' });

      expect(await gateway.post('/v1/run-agent', { agentflow_id, goal: 'x' })).toMatchObject(refused);
      expect(await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id, goal: 'x' })).toMatchObject(
        refused,
      );
      expect(await api.post(`/execute_flow/${ready}/execute`)).toMatchObject(refused);
      expect(await api.post(`/execute_flow/${over}/rerun`, {})).toMatchObject(refused);
      expect(await api.post(`/schedule/coworker/${schedule._id}/trigger`)).toMatchObject(refused);
    },
  );

  test('tests the agentflow of a prepared execution and the way the run is started', async () => {
    verifies('operation.no-bypass', 'policy.channel');
    const workspace = await createGatewayWorkspace(deps);
    const { api } = workspace;
    const { execution_id: forbidden } = await prepareExecution(workspace, flowThatCalls([]));
    const { execution_id: permitted } = await prepareExecution(workspace, flowThatCalls([]));
    const { agentflow_id } = (await api.get(`/execute_flow/${forbidden}`)).body;
    await rule(workspace, {
      effect: 'forbid',
      tools: ['run-agent'],
      when: `context.input.agentflow_id == "${agentflow_id}" && context.channel == "rest" && resource.id == "${agentflow_id}"`,
    });
    expect(await api.post(`/execute_flow/${forbidden}/execute`)).toMatchObject(refused);
    expect(await api.post(`/execute_flow/${permitted}/execute`)).toMatchObject({ status: 200 });
  });
});

describe('other rules with a sibling route', () => {
  test('cover every write of context by a client in governed mode', async () => {
    verifies('operation.governed-mode');
    const { gateway, api, apiKey, projectID } = await createGatewayWorkspace(deps);
    const entities = [{ id: 'acme', type: 'Customer', name: 'Acme', properties: {} }];
    expect(await gateway.put(`/v1/projects/${projectID}/mode`, { mode: 'governed' })).toMatchObject({ status: 200 });
    expect(await gateway.post('/v1/save-context', { entities })).toMatchObject(refused);
    expect(await gateway.post('/v1/catalog/ingest', { source: 's', entities, relationships: [] })).toMatchObject(
      refused,
    );
    const form = new FormData();
    form.append('files', new Blob(['text']), 'note.txt');
    const upload = await fetch(`${api.url}/knowledge_base/${projectID}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: form,
    });
    expect({ status: upload.status, body: await upload.json() }).toMatchObject(refused);
  });

  test('cover executions and tasks on the platform by orchestrate, and skills by save-skill', async () => {
    verifies('operation.no-bypass');
    const workspace = await createGatewayWorkspace(deps);
    const { api, gateway, projectID } = workspace;
    const { execution_id: execution } = await prepareExecution(workspace, flowThatCalls([]));
    const { task_id } = (await api.get(`/execute_flow/${execution}`)).body;
    await rule(
      workspace,
      { effect: 'forbid', tools: ['orchestrate'], when: 'context.input.operation == "cancel"' },
      { effect: 'forbid', tools: ['save-skill'] },
    );
    expect(await gateway.post('/v1/orchestrate', { operation: 'cancel', execution_id: execution })).toMatchObject(
      refused,
    );
    expect(await api.post(`/execute_flow/${execution}/cancel`, {})).toMatchObject(refused);
    expect(await api.post(`/task/${task_id}/stop`, {})).toMatchObject(refused);
    expect(await gateway.post('/v1/orchestrate', { operation: 'list' })).toMatchObject({ status: 200 });
    expect(
      await api.post(`/skill?projectID=${projectID}`, {
        name: 'A skill',
        initial_action_id: 'a',
        actions: [
          {
            _id: 'a',
            name: 'A',
            category: 'restful',
            method: 'GET',
            endpoint: 'https://example.com',
            is_terminal: true,
          },
        ],
      }),
    ).toMatchObject(refused);
  });
});

describe('a platform write', () => {
  test('has a lifecycle, which the answer names, a decision and an audit entry', async () => {
    verifies('operation.platform-writes');
    const { api, gateway, projectID, userId } = await createGatewayWorkspace(deps);
    const made = await api.post(`/tag?projectID=${projectID}`, { name: 'urgent' });
    expect(made.status).toBe(201);
    const lifecycleId = made.headers.get('x-lifecycle-id');
    expect((await gateway.get(`/v1/lifecycles/${lifecycleId}`)).body).toMatchObject({
      tool: 'tag.create',
      status: 'completed',
      stages: expect.arrayContaining([{ stage: 'S8:execute', status: 'ok', detail: '' }]),
    });
    const audit = await gateway.get(`/v1/audit?lifecycle_id=${lifecycleId}`);
    expect(audit.body).toMatchObject({
      total_count: 1,
      data: [
        {
          action: 'tag.create',
          resource: `tag:${made.body._id}`,
          outcome: 'completed',
          actor: expect.stringContaining(userId),
        },
      ],
    });
    // A refusal by the operation itself is recorded as well.
    const again = await api.post(`/tag?projectID=${projectID}`, { name: 'urgent' });
    expect(again.status).toBe(409);
    expect((await gateway.get(`/v1/lifecycles/${again.headers.get('x-lifecycle-id')}`)).body).toMatchObject({
      status: 'denied',
    });
    expect((await api.get(`/tag?projectID=${projectID}`)).headers.get('x-lifecycle-id')).toBeNull();
  });

  test('can be forbidden', async () => {
    verifies('operation.platform-writes');
    const { api, projectID } = await ruled({
      effect: 'forbid',
      tools: ['tag.create'],
      when: 'context.input.name == "secret"',
      description: 'Not that name.',
    });
    const forbidden = await api.post(`/tag?projectID=${projectID}`, { name: 'secret' });
    expect(forbidden).toMatchObject({ ...refused, body: { error_description: 'Not that name.' } });
    expect(forbidden.headers.get('x-lifecycle-id')).toEqual(expect.any(String));
    expect((await api.post(`/tag?projectID=${projectID}`, { name: 'open' })).status).toBe(201);
  });

  test('can be held with 202 until the same request has the resume token; the held call shows its outcome', async () => {
    verifies('operation.platform-held', 'approval.used', 'approval.payload');
    const workspace = await ruled({ effect: 'require_approval', tools: ['tag.create'] });
    const { api, gateway, projectID } = workspace;
    const approver = await colleagueOf(deps, workspace);
    const path = `/tag?projectID=${projectID}`;
    const held = await api.post(path, { name: 'held' }, { 'idempotency-key': 'once' });
    expect(held).toMatchObject({
      status: 202,
      body: {
        status: 'pending_approval',
        approval_id: expect.any(String),
        lifecycle_id: held.headers.get('x-lifecycle-id'),
      },
    });
    const { approval_id, lifecycle_id } = held.body;
    expect((await approver.get(`/v1/approvals/${approval_id}`)).body).toMatchObject({
      tool: 'tag.create',
      may_see_payload: true,
      payload: { input: { name: 'held' } },
    });
    expect((await approver.get('/v1/approvals')).body.data).toMatchObject([{ approval_id, may_see_payload: true }]);
    await approver.post(`/v1/approvals/${approval_id}/approve`, {});
    const approved = (await gateway.get(`/v1/approvals/${approval_id}`)).body;
    // The call stays readable as long as its audit entry.
    expect(approved).toMatchObject({ status: 'approved', may_see_payload: true });
    const token = { 'x-resume-token': approved.resume_token, 'idempotency-key': 'once' };
    const made = await api.post(path, { name: 'held' }, token);
    expect(made).toMatchObject({ status: 201, body: { name: 'held' } });
    // A repeat under the same key gets the same answer; a new request is refused because the token is used.
    expect(await api.post(path, { name: 'held' }, token)).toMatchObject({ status: 201, body: { _id: made.body._id } });
    expect(await api.post(path, { name: 'held' }, { 'x-resume-token': approved.resume_token })).toMatchObject({
      status: 403,
      body: { error: 'S6:approval', error_description: expect.stringContaining('the resume token was already used') },
    });
    expect((await gateway.get(`/v1/approvals/${approval_id}`)).body).toMatchObject({
      status: 'used',
      used_by: made.headers.get('x-lifecycle-id'),
    });
    expect((await gateway.get(`/v1/lifecycles/${lifecycle_id}`)).body).toMatchObject({
      status: 'completed',
      continued_by: made.headers.get('x-lifecycle-id'),
    });
  });

  test('of data is recorded only if the project settings turn data_events on', async () => {
    verifies('operation.data-events');
    const { api, projectID } = await createGatewayWorkspace(deps);
    const table = await api.post(`/storage/${projectID}/table`, { table_name: 'rows' });
    const path = `/storage/${projectID}/table/${table.body._id}/row`;
    const quiet = await api.post(path, {});
    expect([quiet.status, quiet.headers.get('x-lifecycle-id')]).toEqual([201, null]);
    expect(await api.patch(`/settings/${projectID}`, { data_events: true })).toMatchObject({
      status: 200,
      body: { data_events: true },
    });
    expect((await api.post(path, {})).headers.get('x-lifecycle-id')).toEqual(expect.any(String));
  });

  test('of data can be forbidden, whether it is recorded or not', async () => {
    verifies('operation.data-events');
    const workspace = await createGatewayWorkspace(deps);
    const { api, projectID } = workspace;
    const table = await api.post(`/storage/${projectID}/table`, { table_name: 'rows' });
    await rule(workspace, { effect: 'forbid', tools: ['table.write-rows'] });
    expect(await api.post(`/storage/${projectID}/table/${table.body._id}/row`, {})).toMatchObject(refused);
  });

  test('that replaces the policies or decides an approval is covered only by a rule that names it', async () => {
    verifies('policy.own-rules');
    const workspace = await ruled({ effect: 'forbid' });
    expect(await workspace.api.post(`/tag?projectID=${workspace.projectID}`, { name: 'x' })).toMatchObject(refused);
    expect(await workspace.gateway.put('/v1/policies', { policies: [all] })).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
  });

  test.each([
    ['a forbid without a condition', {}],
    ['a forbid whose condition is always true', { when: 'true' }],
    ['a forbid that cannot be evaluated', { when: '(context.hour + 9007199254740991) * 9007199254740991 > 0' }],
  ])('that replaces the policies stays possible for an owner under %s', async (_what, fields) => {
    verifies('policy.own-rules');
    const workspace = await ruled({ effect: 'forbid', tools: ['policies.replace', 'tag.create'], ...fields });
    const [owner, admin] = await Promise.all([
      colleagueOf(deps, workspace, { role: 'OWNER' }),
      colleagueOf(deps, workspace, { role: 'ORG_ADMIN' }),
    ]);
    const open = { policies: [all] };
    for (const other of [workspace.gateway, admin])
      expect(await other.put('/v1/policies', open)).toMatchObject(refused);
    expect(await owner.post(`/tag?projectID=${workspace.projectID}`, { name: 'x' })).toMatchObject(refused);
    expect(await owner.put('/v1/policies', open)).toMatchObject({ status: 200 });
    expect(await workspace.gateway.put('/v1/policies', { policies: [] })).toMatchObject({ status: 200 });
  });

  const overflows = 'context.hour + 9007199254740991 * 9007199254740991 > 0';
  test('under a rule that cannot be evaluated asks for the required approval, and a permit does not permit', async () => {
    verifies('policy.own-rules');
    const tools = ['policies.replace', 'save-model'];
    const ask = { policy_id: 'ask', effect: 'require_approval', tools, when: overflows };
    const permit = { policy_id: 'permit', effect: 'permit', tools: ['save-context'], when: overflows };
    const workspace = await createGatewayWorkspace(deps);
    const stored = await workspace.gateway.put('/v1/policies', { policies: [ask, permit] });
    expect(stored).toMatchObject({ status: 200 });
    const owner = await colleagueOf(deps, workspace, { role: 'OWNER' });
    expect(await owner.put('/v1/policies', { policies: [all] })).toMatchObject({ status: 202 });
    expect(await workspace.gateway.post('/v1/save-model', { model: 'x' })).toMatchObject({ status: 202 });
    expect(await workspace.gateway.post('/v1/policies/evaluate', { tool: 'save-context' })).toMatchObject({
      body: { decision: 'forbid', reason: 'no policy permits this call: permit could not be evaluated' },
    });
  });

  test('that replaces the policies can require an approval of owners, unless nobody could decide on it', async () => {
    verifies('policy.own-rules');
    const workspace = await createGatewayWorkspace(deps);
    const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['policies.replace'] };
    const never = { policy_id: 'never', effect: 'forbid', tools: ['approval.decide'] };
    expect(await workspace.gateway.put('/v1/policies', { policies: [all, ask, never] })).toMatchObject({
      status: 422,
      body: { error_description: 'never: nobody could approve a change of the policies: add a condition' },
    });
    await rule(workspace, ask);
    const owner = await colleagueOf(deps, workspace, { role: 'OWNER' });
    expect(await owner.put('/v1/policies', { policies: [all] })).toMatchObject({ status: 202 });
  });
});

describe('the policies', () => {
  test('accept every operation by name and alias, and refuse others', async () => {
    verifies('policy.unknown-operation');
    const { gateway } = await ruled({ effect: 'forbid', tools: ['table.create'] });
    expect(await gateway.post('/v1/policies/evaluate', { tool: 'table.create' })).toMatchObject({
      status: 200,
      body: { decision: 'forbid' },
    });
    expect(await gateway.post('/v1/policies/evaluate', { tool: 'run-agent' })).toMatchObject({
      status: 200,
      body: { decision: 'permit' },
    });
    expect(await gateway.post('/v1/policies/evaluate', { tool: 'table.explode' })).toMatchObject({ status: 400 });
    expect(
      await gateway.put('/v1/policies', {
        policies: [all, { policy_id: 'bad', effect: 'forbid', tools: ['table.explode'] }],
      }),
    ).toMatchObject({
      status: 422,
      body: { error: 'validation_failed', error_description: 'bad: table.explode is not an operation' },
    });
  });

  test('distinguish an app from its person: agents need approval, people do not', async () => {
    verifies('policy.channel');
    const { gateway } = await ruled({
      effect: 'require_approval',
      tools: ['save-model'],
      when: 'principal.client_id != "" || context.channel == "mcp"',
    });
    const ask = async (fields: object) =>
      (await gateway.post('/v1/policies/evaluate', { tool: 'save-model', ...fields })).body.decision;
    expect(await ask({ principal: { kind: 'user_jwt', client_id: 'app' } })).toBe('require_approval');
    expect(await ask({ channel: 'mcp' })).toBe('require_approval');
    expect(await ask({ principal: { kind: 'user_jwt' } })).toBe('permit');
    expect(await gateway.post('/v1/save-model', { model: 'm' })).toMatchObject({ status: 200 });
  });
});

describe('an approval', () => {
  test('of run-agent applies to the version that was promoted at its request', async () => {
    verifies('approval.binds-what-runs');
    const workspace = await createGatewayWorkspace(deps);
    const { api, gateway } = workspace;
    const agentflow_id = await promotedFlow(workspace);
    await rule(workspace, { effect: 'require_approval', tools: ['run-agent'], when: 'principal.kind == "api_key"' });
    const approver = await colleagueOf(deps, workspace);
    const call = { agentflow_id, goal: 'x' };
    const held = await gateway.post('/v1/run-agent', call);
    expect(held.status).toBe(202);
    expect((await approver.get(`/v1/approvals/${held.body.approval_id}`)).body.payload).toMatchObject({
      input: call,
      bound: { version: 1 },
    });
    await approver.post(`/v1/approvals/${held.body.approval_id}/approve`, {});
    const { resume_token } = (await gateway.get(`/v1/approvals/${held.body.approval_id}`)).body;
    await api.patch(`/agentflow/${agentflow_id}`, { name: 'Another' });
    await api.post(`/agentflow/${agentflow_id}/promote`);
    expect(await gateway.post('/v1/run-agent', call, { 'x-resume-token': resume_token })).toMatchObject({
      status: 403,
      body: { error: 'S6:approval', error_description: expect.stringContaining('another payload') },
    });
  });

  test('of an ontology commit applies to the draft at its request', async () => {
    verifies('approval.binds-what-runs');
    const workspace = await ruled({ effect: 'require_approval', tools: ['ontology'], when: 'context.input.commit' });
    const { gateway } = workspace;
    const approver = await colleagueOf(deps, workspace);
    const define = (name: string) => ({
      define: { entity_types: { [name]: { properties: {} } }, relationship_types: {} },
    });
    expect((await gateway.post('/v1/ontology', define('Person'))).status).toBe(200);
    const held = await gateway.post('/v1/ontology', { commit: true });
    expect(held.status).toBe(202);
    await approver.post(`/v1/approvals/${held.body.approval_id}/approve`, {});
    const { resume_token } = (await gateway.get(`/v1/approvals/${held.body.approval_id}`)).body;
    await gateway.post('/v1/ontology', define('Robot'));
    expect(await gateway.post('/v1/ontology', { commit: true }, { 'x-resume-token': resume_token })).toMatchObject({
      status: 403,
      body: { error: 'S6:approval' },
    });
  });

  test('shows the call to its approvers without secrets and personal data, and reports which calls were rejected', async () => {
    verifies('approval.payload', 'approval.used');
    const workspace = await ruled({ effect: 'require_approval', tools: ['connector.create'] });
    const { api, gateway, projectID } = workspace;
    const approver = await colleagueOf(deps, workspace);
    const held = await api.post(`/actions/restful/config?projectID=${projectID}`, {
      name: 'CRM',
      config: { base_url: 'https://crm.example.com', api_key: 'sk-very-secret-value' },
    });
    expect(held.status).toBe(202);
    const { payload } = (await approver.get(`/v1/approvals/${held.body.approval_id}`)).body;
    expect(JSON.stringify(payload)).toContain('CRM');
    expect(JSON.stringify(payload)).not.toContain('very-secret');
    const stored = await deps.mongo.collections.approval_payloads.findOne({ _id: held.body.approval_id });
    expect(JSON.stringify(stored)).not.toContain('CRM');
    await approver.post(`/v1/approvals/${held.body.approval_id}/reject`, {});
    expect((await approver.get(`/v1/approvals/${held.body.approval_id}`)).body).toMatchObject({
      status: 'rejected',
      payload,
    });
    expect((await gateway.get(`/v1/lifecycles/${held.body.lifecycle_id}`)).body).toMatchObject({ status: 'denied' });
    const resumed = await api.post(
      `/actions/restful/config?projectID=${projectID}`,
      { name: 'CRM', config: { base_url: 'https://crm.example.com', api_key: 'sk-very-secret-value' } },
      { 'x-resume-token': held.body.approval_id },
    );
    expect(resumed).toMatchObject({
      status: 403,
      body: { error: 'S6:approval', error_description: 'the approval was rejected' },
    });
  });
});

describe('the audit chain', () => {
  test('contains changes of policies, keys, members and projects, decisions and sign-ins, and supports filters', async () => {
    verifies('audit.what-auditors-ask', 'audit.filters');
    const workspace = await ruled({ effect: 'require_approval', tools: ['tag.create'] });
    const { api, gateway, projectID } = workspace;
    const approver = await colleagueOf(deps, workspace);
    const held = await api.post(`/tag?projectID=${projectID}`, { name: 'x' });
    await approver.post(`/v1/approvals/${held.body.approval_id}/reject`, { comment: 'no' });
    const actions = async (query: string) =>
      (await gateway.get(`/v1/audit?${query}`)).body.data.map(
        ({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`,
      );
    expect(await actions('action=policies.replace')).toEqual(['policies.replace completed']);
    expect(await actions(`resource=approval:${held.body.approval_id}`)).toEqual([
      'approval.decide completed',
      'tag.create denied: the approval was rejected',
    ]);
    expect(await actions('outcome=pending_approval')).toEqual(['tag.create pending_approval']);
    expect(await actions('outcome=nothing')).toEqual([]);
    expect(await actions(`from=${Date.now() / 1000 + 60}`)).toEqual([]);
    expect((await gateway.get('/v1/audit?limit=1&outcome=completed')).body).toMatchObject({
      total_count: 2,
      next_cursor: expect.any(String),
      data: [{ actor_name: expect.any(String) }],
    });
    const { next_cursor } = (await gateway.get('/v1/audit?limit=1&outcome=completed')).body;
    expect((await gateway.get(`/v1/audit?limit=1&outcome=completed&cursor=${next_cursor}`)).body).toMatchObject({
      next_cursor: null,
      data: [{ action: 'policies.replace' }],
    });
    expect(await gateway.get('/v1/audit/verify')).toMatchObject({ body: { valid: true } });
  });
});
