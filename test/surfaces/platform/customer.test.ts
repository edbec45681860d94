import { describe, expect, test } from '@jest/globals';
import { setPlan } from '../../../src/domain/customers/operations/account.js';
import { defaultQuota } from '../../../src/domain/customers/rules.js';
import { newId } from '../../../src/base/ids.js';
import { prepareExecution, untilExecution, untilListed } from '../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { refusal } from '../../support/refusal.js';
import { loseAnswer } from '../../support/lost-answers.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;

const customerOf = async (workspace: Workspace) =>
  (await workspace.api.get(`/customer?organization_id=${workspace.organizationId}`)).body;
const planLimit = (text: string) => refusal(403, 'plan_limit', text);
const flow = { name: 'Flow', agents: [{ title: 'One' }, { title: 'Two' }] };

describe('GET /customer', () => {
  test('returns every field, the quota and the usage of the organization', async () => {
    verifies('platform.customer.get', 'resource.customer', 'resource.customer.quota', 'resource.customer.usage');
    const workspace = await createWorkspace(deps);
    const answer = await workspace.api.get(`/customer?organization_id=${workspace.organizationId}`);
    expect(answer.status).toBe(200);
    const withoutZone = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/);
    expect(answer.body).toEqual({
      ...{
        _id: workspace.organizationId,
        organization_name: '',
        organization_id: workspace.organizationId,
        user_id: '',
        customer_id: null,
        email: '',
      },
      ...{
        plan: 'standard',
        subscription_id: null,
        trial_end_date: null,
        support_plan_expiry: null,
        premium_connectors_subscription_id: null,
      },
      ...{
        support_subscription_id: null,
        item_id: 'standard',
        is_trial_active: false,
        billing_cycle_expiry: withoutZone,
      },
      ...{ created_at: withoutZone, updated_at: withoutZone, metadata: { premium_connector_discount_applied: false } },
      quota: defaultQuota,
      usage: {
        ...{
          number_of_coworkers: 0,
          number_of_members: 0,
          number_of_workspaces: 1,
          number_of_tables: 0,
          number_of_connectors: 0,
        },
        ...{
          storage_space_in_mb: 0,
          number_of_premium_connectors: 0,
          number_of_agent_executions: { llm_wise_usage: {} },
        },
      },
    });
  });

  test("returns only the caller's organization", async () => {
    const workspace = await createWorkspace(deps);
    for (const path of ['/customer', '/credit/history']) {
      expect(await workspace.api.get(`${path}?organization_id=${newId()}`)).toMatchObject({
        status: 403,
        body: { error: 'access_denied' },
      });
    }
  });
});

describe('the limits of a plan', () => {
  test('are enforced when coworkers, agents, projects and their features are created, also concurrently', async () => {
    verifies('customer.quota-enforced', 'platform.errors.plan-limit', 'customer.usage-exact');
    const workspace = await createWorkspace(deps);
    const { api, organizationId } = workspace;
    const access_controls = { anomaly_detection: false };
    await setPlan(collections, organizationId, {
      number_of_coworkers: 3,
      number_of_agents_per_coworker: 2,
      number_of_workspaces: 3,
      access_controls,
    });

    const made = await Promise.all(Array.from({ length: 10 }, () => api.post('/agentflow', flow)));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(made.find(({ status }) => status !== 201)).toMatchObject(
      planLimit('number_of_coworkers: the plan allows 3, 3 are in use'),
    );
    expect(await customerOf(workspace)).toMatchObject({ usage: { number_of_coworkers: 3 } });
    const id = made.find(({ status }) => status === 201)?.body._id as string;
    expect(await api.post(`/agentflow/${id}/agent`, { title: 'Three' })).toMatchObject(
      planLimit('number_of_agents_per_coworker'),
    );
    expect(
      await api.patch(`/agentflow/${id}`, {
        initialAgent: 'x',
        agents: [{ _id: 'x', title: '1' }, { title: '2' }, { title: '3' }],
      }),
    ).toMatchObject(planLimit('number_of_agents_per_coworker'));
    expect(await api.patch(`/agentflow/${id}`, { anomaly_detection: { is_enabled: true } })).toMatchObject(
      planLimit('anomaly_detection'),
    );
    expect((await api.delete(`/agentflow/${id}`)).status).toBe(200);
    expect((await api.post('/agentflow', flow)).status).toBe(201);

    const projects = await Promise.all(
      Array.from({ length: 6 }, () => api.post('/v1/project', { name: `p ${newId()}` })),
    );
    expect(projects.filter(({ status }) => status === 201)).toHaveLength(2);
    const [first] = projects.filter(({ status }) => status === 201);
    expect((await (await personOf(deps, workspace)).delete(`/v1/project/${first?.body._id}`)).status).toBe(200);
    expect((await api.post('/v1/project', { name: `p ${newId()}` })).status).toBe(201);
    expect(await customerOf(workspace)).toMatchObject({ usage: { number_of_coworkers: 3, number_of_workspaces: 3 } });
  });

  test('refuse an execution without credits', async () => {
    const workspace = await createWorkspace(deps);
    const agentflow = await workspace.api.post('/agentflow', flowThatCalls([]));
    await setPlan(collections, workspace.organizationId, {
      number_of_credits: { subscription_credits: 0, top_up_credits: 0 },
    });
    expect(await workspace.api.post('/execute_flow', { agentflow_id: agentflow.body._id, goal: 'g' })).toMatchObject(
      planLimit('number_of_credits'),
    );
  });

  test('refuse to start an execution without credits, and repeat the answer of the call that used the last one', async () => {
    const workspace = await createWorkspace(deps);
    const [last, next] = [
      await prepareExecution(workspace, flowThatCalls([])),
      await prepareExecution(workspace, flowThatCalls([])),
    ];
    await setPlan(collections, workspace.organizationId, {
      number_of_credits: { subscription_credits: 0, top_up_credits: 1 },
    });
    const execute = (id: string) => workspace.api.post(`/execute_flow/${id}/execute`, {}, { 'idempotency-key': id });
    const first = await execute(last._id);
    expect(first).toMatchObject({ status: 200, body: { execution_id: last._id, status: 'ready' } });
    await untilListed(workspace, last._id, 'completed');
    expect(await execute(next._id)).toMatchObject(planLimit('number_of_credits: the plan allows 1, 1 are in use'));
    // Simulates a process that died before it answered, and a run that has not written its record.
    await loseAnswer(deps, { workspace, route: `post /execute_flow/${last._id}/execute`, key: last._id });
    await collections.executions.updateOne({ _id: last._id }, { $set: { status: 'ready' } });
    expect(await execute(last._id)).toMatchObject({ status: 200, body: first.body });
    await setPlan(collections, workspace.organizationId, { number_of_credits: { top_up_credits: 1 } });
    expect(await execute(next._id)).toMatchObject({ status: 200 });
  });
});

describe('an execution', () => {
  test('is charged for the turns of a stopped agent and for the checks of outputs', async () => {
    verifies('agent.accounting');
    const workspace = await createWorkspace(deps);
    const [first, second] = flowThatCalls([], []).agents;
    const anomaly_detection = { is_enabled: true, instructions: 'no "prices"' };
    const flow = {
      ...flowThatCalls([], []),
      anomaly_detection,
      agents: [first, { ...second, is_preview_mode_enabled: true }],
    };
    const { _id: id } = await prepareExecution(workspace, flow);
    await workspace.api.post(`/execute_flow/${id}/execute`, {});
    const { execution_context } = await untilExecution(workspace, id, {
      execution_context: { waiting_for: { kind: 'preview', agent_id: 'agent_2' } },
    });
    const { preview_id } = execution_context.waiting_for;
    expect(
      await (
        await personOf(deps, workspace)
      ).post(`/execute_flow/${id}/preview`, { agent_id: 'agent_2', preview_id, decision: 'reject' }),
    ).toMatchObject({ status: 200 });
    await untilListed(workspace, id, 'failed');
    const { body } = await workspace.api.get(`/credit/history?organization_id=${workspace.organizationId}`);
    const turns = body.data.filter(({ kind }: { kind: string }) => kind === 'model_turn');
    expect(turns).toHaveLength(3);
    expect(
      turns.every(
        (turn: { input_tokens: number; output_tokens: number }) => turn.input_tokens > 0 && turn.output_tokens > 0,
      ),
    ).toBe(true);
  });
});
