import { describe, expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { createGatewayWorkspace } from '../../../support/gateway.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const agent = (_id: string, template: string, next_agent: string | null, variables: string[] = []) => ({
  _id,
  title: `The ${_id}`,
  prompt: { template, variables },
  next_agent,
});
const flow = {
  name: 'Test flow',
  agents: [
    agent('reader', 'Read of {{ city }} for {{ goal }}.', 'writer'),
    agent('writer', 'Write {{ previous }} in {{ tone | default: "dry" }} {{ runtime.style }}.', null, [
      'audience',
      'tone',
    ]),
    agent('stray', '{{ never_given }}', null),
  ],
};

describe('POST /execute_flow', () => {
  test('refuses an execution that lacks prompt variables, and names each with its agent', async () => {
    verifies('agent.missing-variables');
    const { api, projectID } = await createWorkspace(deps);
    const { _id } = (await api.post(`/agentflow?projectID=${projectID}`, flow)).body;
    const create = (change: object) =>
      api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: _id, goal: 'the sink', ...change });
    const refusal = await create({});
    expect(refusal).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
    expect(refusal.body.error_description.split('; ')).toEqual([
      'the prompt of agent "The reader" (reader) needs the variable "city"',
      'the prompt of agent "The writer" (writer) needs the variable "runtime.style"',
      'the prompt of agent "The writer" (writer) needs the variable "audience"',
    ]);
    expect(await create({ input_variables: { city: 'Oslo', audience: 'all' } })).toMatchObject({
      status: 422,
      body: { error_description: expect.stringMatching(/^[^;]*"runtime.style"$/) },
    });
    expect((await api.get(`/${projectID}/execution_flows`)).body.total_count).toBe(0);
    expect(
      await create({ start_from_agent_id: 'writer', runtime_inputs: { style: 'prose', audience: 'all' } }),
    ).toMatchObject({ status: 201 });
    expect(
      await create({ input_variables: { city: 'Oslo', audience: 'all' }, runtime_inputs: { style: 'prose' } }),
    ).toMatchObject({ status: 201 });
  });
});

describe('POST /v1/run-agent', () => {
  test('refuses the same execution', async () => {
    verifies('agent.missing-variables');
    const { api, gateway, projectID } = await createGatewayWorkspace(deps);
    const { _id } = (
      await api.post(`/agentflow?projectID=${projectID}`, {
        ...flow,
        agents: [agent('reader', 'Read of {{ city }}.', null)],
      })
    ).body;
    expect(await api.post(`/agentflow/${_id}/promote`)).toMatchObject({ status: 200 });
    const refusal = await gateway.post('/v1/run-agent', { agentflow_id: _id, goal: 'the sink' });
    expect(refusal).toMatchObject({
      status: 422,
      body: {
        error: 'validation_failed',
        error_description: expect.stringContaining('"The reader" (reader) needs the variable "city"'),
      },
    });
    expect(
      await gateway.post('/v1/run-agent', { agentflow_id: _id, goal: 'the sink', inputs: { city: 'Oslo' } }),
    ).toMatchObject({ status: 200 });
  });
});
