import { describe, expect, test } from '@jest/globals';
import { startExecution, untilListed } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import type { SinkRequest } from '../../../support/http-sink.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

function calls({ projectID }: Workspace): SinkRequest[] {
  return sink.seen(`/${projectID}`);
}

async function eventTypes(id: string): Promise<string[]> {
  const events = await deps.mongo.collections.execution_events.find({ execution_id: id }).sort({ seq: 1 }).toArray();
  return events.map(({ type }) => type);
}

describe('anomaly detection', () => {
  const rules = (instructions: string, is_enabled = true) => ({
    ...flowThatCalls([], []),
    anomaly_detection: { is_enabled, instructions },
  });

  test('checks each output against the instructions, records the finding and continues the run', async () => {
    verifies('agent.anomaly');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, rules('It must not say "forbidden WORD" or "never said".'), {
      goal: 'Forbidden word at work',
    });
    const ended = await untilListed(workspace, id, 'completed');
    expect(ended.anomaly_detected).toEqual([
      { agent_id: 'agent_1', finding: 'the output contains "forbidden WORD"', at: expect.any(Number) },
      { agent_id: 'agent_2', finding: 'the output contains "forbidden WORD"', at: expect.any(Number) },
    ]);
    expect((await eventTypes(id)).filter((type) => type === 'anomaly_detected')).toHaveLength(2);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps.map((step: any) => step.step_id)).toEqual([
      'agent_1/model',
      'agent_1/anomaly-1',
      'agent_1/anomaly-1/continue',
      'agent_2/model',
      'agent_2/anomaly-2',
      'agent_2/anomaly-2/continue',
    ]);
  });

  test('finds nothing in a normal output, and does nothing when it is off', async () => {
    verifies('agent.anomaly');
    const workspace = await createWorkspace(deps);
    const fine = await startExecution(workspace, rules('Not "zebra".'), { goal: 'Something else' });
    const off = await startExecution(workspace, rules('Not "word".', false), { goal: 'The word' });
    expect((await untilListed(workspace, fine, 'completed')).anomaly_detected).toBeNull();
    expect((await untilListed(workspace, off, 'completed')).anomaly_detected).toBeNull();
    const { body } = await workspace.api.get(`/execute_flow/${off}/monitoring`);
    expect(body.steps).toHaveLength(2);
  });
});

describe('failover_goal', () => {
  /** The second agent's action is refused as long as the goal is the first one. */
  function breakingFlow(workspace: Workspace, failover_goal: unknown, status = 403) {
    const prefix = `/${workspace.projectID}`;
    sink.answer(
      `${prefix}/break`,
      (request, res) =>
        void res
          .writeHead(request.body.includes('plan B') ? 200 : status, { 'content-type': 'application/json' })
          .end('{}'),
    );
    const flow = flowThatCalls([`${sink.url}${prefix}/fine`], [`${sink.url}${prefix}/break`]);
    const input_schema = { fields: [{ field_id: 'goal', type: 'string' }] };
    const agents = flow.agents.map((agent) => ({
      ...agent,
      skills: agent.skills.map((skill) => ({
        ...skill,
        actions: skill.actions.map((action) => ({ ...action, input_schema })),
      })),
    }));
    return { ...flow, agents, failover_goal };
  }

  test.each([
    ['a text', 'plan B', 'plan B'],
    [
      'a template',
      { template: 'plan B after {{ failure.code }} of {{ goal }}' },
      'plan B after action_refused of the sink',
    ],
  ])('as %s: the flow starts again for it and keeps the failure', async (_form, failoverGoal, goal) => {
    verifies('agent.failover');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, breakingFlow(workspace, failoverGoal));
    const ended = await untilListed(workspace, id, 'completed');
    expect(ended.execution_context.failover).toMatchObject({
      goal,
      at: expect.any(Number),
      from: { code: 'action_refused', step_id: 'agent_2/skill_1/action_1' },
    });
    expect(ended.execution_context.failure).toBeUndefined();
    expect(ended.agents_output.map(({ agent_id }: any) => agent_id)).toEqual(['agent_1', 'agent_1', 'agent_2']);
    expect(calls(workspace).map(({ path, body }) => [path.split('/').at(-1), JSON.parse(body).goal])).toEqual([
      ['fine', 'the sink'],
      ['break', 'the sink'],
      ['fine', goal],
      ['break', goal],
    ]);
    expect(new Set(calls(workspace).map(({ key }) => key)).size).toBe(4);
    expect(await eventTypes(id)).toContain('failover_started');
  });

  test('that also fails ends the run with both failures', async () => {
    verifies('agent.failover');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, breakingFlow(workspace, 'plan C'));
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended.execution_context).toMatchObject({
      failure: { code: 'action_refused', step_id: 'failover/agent_2/skill_1/action_1' },
      failover: { from: { code: 'action_refused', step_id: 'agent_2/skill_1/action_1' } },
    });
    expect(calls(workspace)).toHaveLength(4);
  });

  test('with an invalid template is refused when it is stored', async () => {
    const workspace = await createWorkspace(deps);
    const answer = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, {
      ...flowThatCalls([]),
      failover_goal: { template: '{{ goal' },
    });
    expect(answer).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('failover_goal.template') },
    });
  });
});

describe('pre_and_post_execution_input', () => {
  test('has lower priority than the variables of the run, and higher than values from earlier answers', async () => {
    verifies('action.pre-post-input');
    const workspace = await createWorkspace(deps);
    const prefix = `/${workspace.projectID}`;
    sink.answer(
      `${prefix}/one`,
      (_request, res) =>
        void res.setHeader('content-type', 'application/json').end('{"chosen":"answer","left":"answer"}'),
    );
    const flow = flowThatCalls(
      [`${sink.url}${prefix}/one`, `${sink.url}${prefix}/two`],
      [`${sink.url}${prefix}/three`],
    );
    const fields = ['chosen', 'left', 'given', 'fixed'].map((field_id) => ({ field_id, type: 'string' }));
    const agents = flow.agents.map((agent, at) => ({
      ...agent,
      skills: agent.skills.map((skill) => ({
        ...skill,
        actions: skill.actions.map((action) => ({ ...action, input_schema: { fields } })),
      })),
      ...(at === 0 && {
        pre_and_post_execution_input: { pre: { chosen: 'pre', given: 'pre', fixed: 'pre' }, post: { left: 'post' } },
      }),
    }));
    const id = await startExecution(
      workspace,
      { ...flow, agents },
      { input_variables: { given: 'variable' }, runtime_inputs: { action_2: { fixed: 'runtime' } } },
    );
    await untilListed(workspace, id, 'completed');
    expect(calls(workspace).map(({ body }) => JSON.parse(body))).toEqual([
      { chosen: 'pre', given: 'variable', fixed: 'pre' },
      { chosen: 'pre', left: 'answer', given: 'variable', fixed: 'runtime' },
      { given: 'variable' },
    ]);
  });
});
