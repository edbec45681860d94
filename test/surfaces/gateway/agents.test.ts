import { describe, expect, test } from '@jest/globals';
import { saveSkillByTool } from '../../../src/domain/tools/save-skill.js';
import { call, contextOf, toolWith } from '../../graph/tool-call.js';
import { eventually } from '../../support/eventually.js';
import { createKey, useDeps } from '../../support/fixture.js';
import { prepareExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient, createGatewayWorkspace, stagesOf, type GatewayWorkspace } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

async function agentflowIn({ api, projectID }: GatewayWorkspace): Promise<string> {
  const made = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([]));
  return made.body._id;
}

describe('POST /v1/run-agent', () => {
  test('answers 409 before a version is promoted, and then runs the promoted version regardless of later edits', async () => {
    verifies(
      'gateway.run-agent',
      'gateway.run-agent.unpromoted',
      'platform.agentflows.promote',
      'errors.status.409',
      'errors.code.conflict',
    );
    verifies('execution.search-attribute-lifecycle');
    const workspace = await createGatewayWorkspace(deps);
    const agentflow_id = await agentflowIn(workspace);
    const call = { agentflow_id, goal: 'say hello', inputs: { name: 'Ada' } };
    expect(await workspace.gateway.post('/v1/run-agent', call)).toMatchObject({
      status: 409,
      body: { error: 'conflict', lifecycle_id: expect.any(String) },
    });
    expect(await workspace.api.post(`/agentflow/${agentflow_id}/promote`)).toMatchObject({
      status: 200,
      body: { agentflow_id, version: 1 },
    });
    await workspace.api.patch(`/agentflow/${agentflow_id}`, { name: 'Edited afterwards' });
    const started = await workspace.gateway.post('/v1/run-agent', call);
    expect(started).toMatchObject({
      status: 200,
      body: { execution_id: expect.any(String), status: 'ready', lifecycle_id: expect.any(String) },
    });
    const { execution_id, lifecycle_id } = started.body;
    const ended = await eventually(async () => {
      const { body } = await workspace.api.get(`/execute_flow/${execution_id}`);
      expect(body.status).toBe('completed');
      return body;
    });
    await eventually(async () => {
      const found = [];
      for await (const run of deps.temporal.client.workflow.list({ query: `LifecycleId = '${lifecycle_id}'` }))
        found.push(run.workflowId);
      expect(found).toEqual([`execution/${execution_id}`]);
    });
    expect(ended).toMatchObject({
      agentflow: { name: 'Test flow' },
      execution_context: { lifecycle_id },
      input_variables: { name: 'Ada' },
    });
  });

  test('answers 404 for an agentflow of another project', async () => {
    verifies('errors.status.404');
    const mine = await createGatewayWorkspace(deps);
    const theirs = await createGatewayWorkspace(deps);
    const agentflow_id = await agentflowIn(theirs);
    expect(await mine.gateway.post('/v1/run-agent', { agentflow_id, goal: 'x' })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
  });

  test('with dry_run reports the version that it would start and starts nothing', async () => {
    const workspace = await createGatewayWorkspace(deps);
    const agentflow_id = await agentflowIn(workspace);
    await workspace.api.post(`/agentflow/${agentflow_id}/promote`);
    const dry = await workspace.gateway.post('/v1/run-agent', { agentflow_id, goal: 'x', dry_run: true });
    expect(dry).toMatchObject({ status: 200, body: { would: { start: { agentflow_id, version: 1 } } } });
    expect((await workspace.gateway.post('/v1/orchestrate', { operation: 'list' })).body.executions).toEqual([]);
  });
});

describe('POST /v1/orchestrate', () => {
  test('lists, reads and cancels only executions of the project', async () => {
    verifies('gateway.orchestrate');
    const workspace = await createGatewayWorkspace(deps);
    const stranger = await createGatewayWorkspace(deps);
    const agentflow_id = await agentflowIn(workspace);
    const { body } = await workspace.api.post(`/execute_flow?projectID=${workspace.projectID}`, {
      agentflow_id,
      goal: 'x',
    });
    const { execution_id } = body;
    const orchestrate = (operation: string) => workspace.gateway.post('/v1/orchestrate', { operation, execution_id });
    expect((await orchestrate('list')).body.executions).toMatchObject([{ execution_id, status: 'ready' }]);
    expect((await orchestrate('get')).body.execution).toMatchObject({ execution_id, status: 'ready', goal: 'x' });
    expect(await orchestrate('pause')).toMatchObject({ status: 409, body: { error: 'conflict' } });
    expect(await orchestrate('cancel')).toMatchObject({
      status: 200,
      body: { execution: { execution_id, status: 'failed' } },
    });
    expect(await stranger.gateway.post('/v1/orchestrate', { operation: 'get', execution_id })).toMatchObject({
      status: 404,
    });
    expect(await workspace.gateway.post('/v1/orchestrate', { operation: 'get' })).toMatchObject({ status: 400 });
  });

  test('with dry_run reports the current status, and refuses a transition that is not allowed at S7', async () => {
    verifies('pipeline.s7-dry-run');
    const workspace = await createGatewayWorkspace(deps);
    const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
    const dry = (operation: string) =>
      workspace.gateway.post('/v1/orchestrate', { operation, execution_id, dry_run: true });
    expect(await dry('cancel')).toMatchObject({
      status: 200,
      body: { would: { cancel: { execution_id, status: 'ready' } } },
    });
    const refused = await dry('pause');
    expect(refused).toMatchObject({
      status: 422,
      body: { error: 'S7:dry-run', error_description: 'the execution is ready: pause is not possible' },
    });
    expect((await stagesOf(workspace.gateway, refused.body.lifecycle_id)).at(-1)).toBe('S7:dry-run!');
    expect(await dry('get')).toMatchObject({
      status: 200,
      body: { would: { get: { execution_id, status: 'ready' } } },
    });
  });

  test('requires the read grant for reads and the write grant for transitions', async () => {
    verifies('gateway.orchestrate.grants');
    const workspace = await createGatewayWorkspace(deps);
    const looker = bearerClient(await createKey(deps, workspace, { grants: ['svc:orchestrate.read'] }));
    const mover = bearerClient(await createKey(deps, workspace, { grants: ['svc:orchestrate.write'] }));
    const move = { operation: 'cancel', execution_id: '01980000-0000-7000-8000-000000000000' };
    expect((await looker.post('/v1/orchestrate', { operation: 'list' })).status).toBe(200);
    expect(await looker.post('/v1/orchestrate', move)).toMatchObject({
      status: 403,
      body: { error: 'S2:resolve-scope' },
    });
    expect((await mover.post('/v1/orchestrate', { operation: 'list' })).status).toBe(403);
    expect((await mover.post('/v1/orchestrate', move)).status).toBe(404);
  });
});

describe('the saving tools', () => {
  test('store a skill of the project', async () => {
    verifies('gateway.save-skill');
    const { gateway, api, projectID } = await createGatewayWorkspace(deps);
    const action = { _id: 'ping', name: 'Ping', endpoint: 'https://example.com/ping', method: 'GET' };
    const saved = await gateway.post('/v1/save-skill', { name: 'Pinging', actions: [action] });
    expect(saved).toMatchObject({ status: 200, body: { skill_id: expect.any(String), name: 'Pinging' } });
    expect((await api.get(`/skill/${saved.body.skill_id}`)).body).toMatchObject({
      name: 'Pinging',
      projectID,
      initial_action_id: 'ping',
    });
    const nowhere = { name: 'Broken', actions: [{ ...action, next_action_id: 'nowhere' }] };
    expect(await gateway.post('/v1/save-skill', nowhere)).toMatchObject({
      status: 422,
      body: { error: 'validation_failed' },
    });
  });

  test('store one skill for all attempts under one approval', async () => {
    const saveSkill = toolWith(deps, saveSkillByTool);
    const ctx = contextOf();
    const first = await call(saveSkill, ctx, { name: 'Pinging' });
    expect(await call(saveSkill, ctx, { name: 'Pinging' })).toEqual(first);
    const { skills } = deps.mongo.collections;
    expect(await skills.countDocuments({ projectID: ctx.projectId })).toBe(1);
  });

  test('set the model of agents without their own model', async () => {
    verifies('gateway.save-model');
    const workspace = await createGatewayWorkspace(deps);
    expect((await workspace.gateway.post('/v1/save-model', { model: 'project-model', temperature: 0.7 })).status).toBe(
      200,
    );
    const agentflow_id = await agentflowIn(workspace);
    const { body } = await workspace.api.post(`/execute_flow?projectID=${workspace.projectID}`, {
      agentflow_id,
      goal: 'x',
    });
    const record = await deps.mongo.collections.executions.findOne({ _id: body.execution_id });
    expect(record?.plan[0]?.llm).toEqual({ model: 'project-model', temperature: 0.7, max_tokens: null });
  });

  test('bind a repository with the grant that is in no default', async () => {
    verifies('gateway.bind-repository');
    const workspace = await createGatewayWorkspace(deps);
    const binder = bearerClient(await createKey(deps, workspace, { grants: ['svc:codesync.write'] }));
    const call = { repository: `Octo/Catalog-${workspace.projectID}`, branch: 'main' };
    expect((await workspace.gateway.post('/v1/bind-repository', call)).status).toBe(403);
    expect(await binder.post('/v1/bind-repository', call)).toMatchObject({
      status: 200,
      body: { repository: `octo/catalog-${workspace.projectID}`, branch: 'main' },
    });
    expect((await binder.post('/v1/bind-repository', { repository: 'no-owner' })).status).toBe(400);
  });
});
