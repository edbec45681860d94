import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, streamCalls, streamText, type FakeModel } from '../../../support/fake-model.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { actionTo } from '../../../support/flows.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api } from '../../../support/processes.js';
import { refusal } from '../../../support/refusal.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const overrides: Record<string, string> = { LLM_API_KEY: 'sk-secret' };
const product = ownProduct(overrides);
let model: FakeModel;
let api: Api;

beforeAll(async () => {
  model = await startFakeModel();
  overrides.LLM_BASE_URL = model.url;
  [api] = await Promise.all([product.api(), product.worker()]);
});
afterAll(() => model.close());

const workspace = async () => product.through(api, await createWorkspace(deps));
const twice = {
  name: 'Twice',
  description: 'Doubles a number.',
  initialAgent: 'twice',
  input_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  output_schema: { type: 'object', properties: { twice: { type: 'number' } }, required: ['twice'] },
  steps: [{ _id: 'twice', type: 'set', values: { twice: 'inputs.n * 2' } }],
};

async function store({ api: client }: Workspace, flow: object): Promise<string> {
  const { body } = await client.post('/agentflow', flow);
  return body._id;
}

/** An agent whose model calls an agentflow as its tool. */
const calling = (agentflow_id: string, name: string, change: object = {}, action: object = {}) => ({
  name: 'Calling',
  agents: [
    {
      _id: 'boss',
      title: 'Boss',
      llm: { model: name },
      prompt: { template: 'Work.' },
      skills: [
        {
          _id: 'team',
          name: 'Team',
          initial_action_id: null,
          actions: [{ _id: 'ask', name: 'ask_twice', category: 'agentflow', endpoint: agentflow_id, ...action }],
        },
      ],
      ...change,
    },
  ],
});

/** The model makes these calls in its first turn, and then answers. */
function callsThenAnswers(...calls: [string, object][]): string {
  const name = newId();
  model.on(name, (res, _asked, attempt) => (attempt === 1 ? streamCalls(res, calls) : streamText(res, ['done'])));
  return name;
}

const toolAnswers = (name: string) =>
  (model.asked(name).at(-1)?.body.messages ?? [])
    .filter(({ role }: { role: string }) => role === 'tool')
    .map(({ content }: { content: string }) => JSON.parse(content));

async function childOf({ projectID }: Workspace, id: string) {
  return eventually(async () => {
    const [child] = await deps.mongo.collections.executions.find({ projectID, parent_execution_id: id }).toArray();
    if (!child) throw new Error('no child yet');
    return child;
  });
}

test('the model gets the inputs of the agentflow as a tool, and its typed output as the answer', async () => {
  verifies('flow.agents-as-tools');
  const member = await workspace();
  const name = callsThenAnswers(['ask_twice', { goal: 'Double it', n: 21 }], ['ask_twice', { goal: 'Again', n: 2 }]);
  const id = await startExecution(member, calling(await store(member, twice), name));
  const run = await untilExecution(member, id, 'completed');
  const { description, parameters } = model.asked(name)[0]?.body.tools[0].function ?? {};
  expect(description).toContain('Doubles a number.');
  expect(parameters).toMatchObject({
    type: 'object',
    properties: { goal: { type: 'string' }, n: { type: 'integer' } },
    required: ['goal', 'n'],
  });
  expect(toolAnswers(name)).toEqual([{ twice: 42 }, { twice: 4 }]);
  expect(run.agents_output[0].actions).toMatchObject([
    { action_id: 'ask', output: { twice: 42 } },
    { action_id: 'ask', output: { twice: 4 } },
  ]);
  const children = await deps.mongo.collections.executions.find({ parent_execution_id: id }).toArray();
  const started = children.map(({ goal, input_variables }) => `${goal} ${String(input_variables.n)}`);
  expect(started.sort()).toEqual(['Again 2', 'Double it 21']);
});

test('the model learns why the other run was refused or has failed', async () => {
  verifies('flow.agents-as-tools');
  const member = await workspace();
  const steps = [{ _id: 'twice', type: 'set', values: { wrong: '1' } }];
  const [whole, failing] = await Promise.all([store(member, twice), store(member, { ...twice, steps })]);
  const wrong = callsThenAnswers(['ask_twice', { goal: 'g', n: 1.5 }], ['ask_twice', { goal: 'g' }]);
  const fails = callsThenAnswers(['ask_twice', { goal: 'g', n: 1 }]);
  const ids = await Promise.all([
    startExecution(member, calling(whole, wrong)),
    startExecution(member, calling(failing, fails)),
  ]);
  for (const id of ids) await untilExecution(member, id, 'completed');
  expect(toolAnswers(wrong)).toMatchObject([
    { error: { code: 'validation_failed' } },
    { error: { code: 'validation_failed', message: expect.stringContaining('"n" is missing') } },
  ]);
  expect(toolAnswers(fails)).toEqual([
    { error: { code: 'output_invalid', message: expect.stringContaining('output.twice: is required') } },
  ]);
});

test('an action that the skill prescribes starts a run too, with the inputs of the run', async () => {
  verifies('flow.agents-as-tools');
  const member = await workspace();
  const name = newId();
  const flow = calling(await store(member, twice), name);
  const skills = flow.agents[0]?.skills.map((skill) => ({ ...skill, initial_action_id: 'ask' }));
  const id = await startExecution(
    member,
    { ...flow, agents: [{ ...flow.agents[0], skills }] },
    { input_variables: { n: 5 } },
  );
  const run = await untilExecution(member, id, 'completed');
  expect(run.agents_output[0].actions).toMatchObject([{ action_id: 'ask', output: { twice: 10 } }]);
  expect((await childOf(member, id)).goal).toBe('the sink');
});

test('pause, resume and cancel pass on, and the other run goes on where it waits', async () => {
  verifies('flow.agents-as-tools', 'flow.control');
  const member = await workspace();
  const waits = { name: 'Waits', initialAgent: 'w', steps: [{ _id: 'w', type: 'wait', event: { name: 'go' } }] };
  const agentflow = await store(member, waits);
  const name = callsThenAnswers(['ask_twice', { goal: 'wait' }]);
  const id = await startExecution(member, calling(agentflow, name));
  const child = await childOf(member, id);
  await untilExecution(member, child._id, 'running');
  expect(await moveExecution(member, id, 'pause')).toMatchObject({ status: 200 });
  await untilExecution(member, child._id, 'paused');
  expect(await moveExecution(member, id, 'resume')).toMatchObject({ status: 200 });
  await untilExecution(member, child._id, { execution_context: { waiting_for: { kind: 'event' } }, status: 'running' });
  await member.api.post(`/execute_flow/${child._id}/events`, { name: 'go', data: 7 });
  await untilExecution(member, id, 'completed');
  expect(toolAnswers(name)).toEqual([7]);

  const other = callsThenAnswers(['ask_twice', { goal: 'wait' }]);
  const cancelled = await startExecution(member, calling(agentflow, other));
  const inner = await childOf(member, cancelled);
  await untilExecution(member, inner._id, 'running');
  expect(await moveExecution(member, cancelled, 'cancel')).toMatchObject({ status: 200 });
  const { execution_context } = await untilExecution(member, inner._id, 'failed');
  expect(execution_context.failure.reason).toBe('cancelled');
});

test('rules decide about the start with the chain of parents, and an approval holds the call', async () => {
  verifies('flow.agents-as-tools', 'flow.approvals');
  const member = await workspace();
  const approver = await personOf(deps, member, { userId: newId(), role: 'ORG_ADMIN', url: member.api.url });
  const leaf = await store(member, twice);
  const inner = callsThenAnswers(['ask_twice', { goal: 'g', n: 3 }]);
  const middle = await store(member, { ...calling(leaf, inner), name: 'Middle' });
  const outer = callsThenAnswers(['ask_twice', { goal: 'g' }]);
  const policies = [
    { policy_id: 'permit', effect: 'permit' },
    {
      policy_id: 'deep',
      effect: 'require_approval',
      tools: ['execution.start'],
      when: `context.input.parent_agentflows.contains("${middle}")`,
    },
  ];
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const id = await startExecution(member, calling(middle, outer));
  const child = await childOf(member, id);
  const approval = await eventually(async () => {
    const { body } = await member.api.get(`/execute_flow/${child._id}`);
    expect(body.execution_context.waiting_for).toMatchObject({ kind: 'approval' });
    return body.execution_context.waiting_for.approval_id;
  });
  expect(await deps.mongo.collections.executions.countDocuments({ parent_execution_id: child._id })).toBe(0);
  expect(await approver.post(`/v1/approvals/${approval}/approve`, {})).toMatchObject({ status: 200 });
  await untilExecution(member, id, 'completed');
  expect(toolAnswers(inner)).toEqual([{ twice: 6 }]);
  expect((await childOf(member, child._id)).flow.parents).toHaveLength(2);
});

test('the tokens of the other runs count for the limit of the agent', async () => {
  verifies('flow.agents-as-tools');
  const member = await workspace();
  const worker = { name: 'Worker', agents: [{ _id: 'w', title: 'W', llm: { model: newId() } }] };
  const name = callsThenAnswers(['ask_twice', { goal: 'work' }], ['ask_twice', { goal: 'more' }]);
  const flow = calling(await store(member, worker), name, { max_total_tokens: 40 });
  const id = await startExecution(member, flow);
  // A turn of the model has 15 tokens: one of the agent, and one of each other run.
  const run = await untilExecution(member, id, 'failed');
  expect(run.execution_context).toMatchObject({ failure: { code: 'limit_exceeded' }, tokens_of_children: 30 });
});

test('a release calls the release that was in production when it was published', async () => {
  verifies('flow.agents-as-tools.released');
  const member = await workspace();
  const { api: client } = member;
  const other = await store(member, twice);
  const name = callsThenAnswers(['ask_twice', { goal: 'g', n: 3 }]);
  const boss = await store(member, calling(other, name));
  const promote = (id: string) => client.post(`/agentflow/${id}/promote`, {});
  expect(await promote(boss)).toMatchObject(refusal(422, 'validation_failed', 'agents.boss.skills.team.actions.ask'));
  expect(await promote(other)).toMatchObject({ status: 200 });
  const { body: before } = await client.post(`/agentflow/${boss}/versions`, {});
  expect(before.flows).toMatchObject([{ step_id: 'boss/team/ask', agentflow_id: other, version: 1 }]);
  expect(await promote(boss)).toMatchObject({ status: 200 });
  const changed = {
    ...twice,
    description: 'Triples.',
    steps: [{ ...twice.steps[0], values: { twice: 'inputs.n * 3' } }],
  };
  expect(await client.patch(`/agentflow/${other}`, changed)).toMatchObject({ status: 200 });
  expect(await promote(other)).toMatchObject({ status: 200 });
  const run = async () => {
    const { body } = await client.post('/execute_flow', { agentflow_id: boss, goal: 'g' });
    expect(await moveExecution(member, body.execution_id, 'execute')).toMatchObject({ status: 200 });
    await untilExecution(member, body.execution_id, 'completed');
    return toolAnswers(name);
  };
  expect(await run()).toEqual([{ twice: 6 }]);
  expect(model.asked(name)[0]?.body.tools[0].function.description).toContain('Doubles a number.');
  const { body: after } = await client.post(`/agentflow/${boss}/versions`, {});
  expect(after.flows).toMatchObject([{ version: 2 }]);
  expect(after.digest).not.toBe(before.digest);
});

test('an agentflow that the project does not have, and an action step, are refused', async () => {
  verifies('flow.agents-as-tools', 'flow.checks');
  const member = await workspace();
  const stranger = await store(await workspace(), twice);
  const { body } = await member.api.post('/agentflow', calling(stranger, 'm'));
  expect(await member.api.post('/execute_flow', { agentflow_id: body._id, goal: 'g' })).toMatchObject(
    refusal(422, 'validation_failed', 'the project has no agentflow'),
  );
  const step = { _id: 'a', type: 'action', action: { name: 'a', category: 'agentflow', endpoint: stranger } };
  expect(await member.api.post('/agentflow', { name: 'Step', initialAgent: 'a', steps: [step] })).toMatchObject(
    refusal(422, 'validation_failed', 'use a flow step'),
  );
});

/** A run whose model calls these tools in one turn. A name that begins with `w` is a POST, others are GETs. */
async function callingAtOnce(names: string[], policies: object[] = []) {
  const workspace = product.through(api, await createWorkspace(deps));
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN', url: workspace.api.url });
  const rules = [{ policy_id: 'permit', effect: 'permit' }, ...policies];
  expect(await approver.put('/v1/policies', { policies: rules })).toMatchObject({ status: 200 });
  const prefix = `/${workspace.projectID}`;
  const actions = names.map((name) => ({
    ...actionTo(`${sink.url}${prefix}/${name}`, name),
    ...{ name, method: name.startsWith('w') ? 'POST' : 'GET' },
  }));
  const llm = { model: newId() };
  model.on(llm.model, (res, _asked, attempt) =>
    attempt === 1
      ? streamCalls(
          res,
          names.map((name) => [name, {}] as const),
        )
      : streamText(res, ['done']),
  );
  const skills = [{ _id: 'skill', name: 'Calls', initial_action_id: null, actions }];
  const flow = { name: 'Calls', agents: [{ _id: 'agent', title: 'Agent', prompt: { template: 'Go.' }, llm, skills }] };
  const seen = () => names.filter((name) => sink.seen(`${prefix}/${name}`).length > 0);
  const hold = (name: string) => sink.hold(`${prefix}/${name}`);
  const answered = () =>
    (model.asked(llm.model).at(-1)?.body.messages ?? [])
      .filter(({ role }: { role: string }) => role === 'tool')
      .map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id);
  return { workspace, approver, seen, hold, answered, start: () => startExecution(workspace, flow) };
}

const askFor = (...names: string[]) => ({
  ...{ policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
  when: names.map((name) => `context.input.path like "*/${name}"`).join(' || '),
});

describe('several calls of one turn', () => {
  test('calls that only read run at once, at most eight, and the model gets the answers in order', async () => {
    verifies('flow.reads-at-once');
    const names = Array.from({ length: 10 }, (_, at) => `r${at}`);
    const { workspace, seen, hold, answered, start } = await callingAtOnce(names);
    const releases = names.map((name) => hold(name));
    const id = await start();
    await eventually(() => expect(seen()).toHaveLength(8));
    // The last one ends first.
    releases[7]?.();
    await eventually(() => expect(seen()).toHaveLength(9));
    for (const release of releases) release();
    const run = await untilExecution(workspace, id, 'completed');
    expect(answered()).toEqual(names.map((_, at) => `c${at}`));
    expect(run.agents_output[0].actions).toHaveLength(10);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    const calls = body.steps.filter(({ kind }: { kind: string }) => kind === 'action');
    expect(calls.map(({ step_id }: { step_id: string }) => step_id).sort()).toEqual(
      names.map((_, at) => `agent/turn-1/${at}`),
    );
  });

  test('calls of a turn with a write run in order', async () => {
    verifies('flow.reads-at-once');
    const { workspace, seen, hold, start } = await callingAtOnce(['r0', 'w1', 'r2']);
    const release = hold('r0');
    const id = await start();
    await eventually(() => expect(seen()).toEqual(['r0']));
    release();
    await untilExecution(workspace, id, 'completed');
    expect(seen()).toEqual(['r0', 'w1', 'r2']);
  });

  test('each call waits for its own approval, which releases no other one', async () => {
    verifies('flow.reads-at-once', 'flow.approvals');
    const { workspace, approver, seen, start } = await callingAtOnce(['a', 'b', 'c'], [askFor('a', 'b')]);
    const id = await start();
    const held = await eventually(async () => {
      const { data } = (await approver.get('/v1/approvals?status=pending')).body;
      expect(data).toHaveLength(2);
      expect(seen()).toEqual(['c']);
      return data;
    });
    await untilExecution(workspace, id, {
      status: 'running',
      execution_context: { waiting_for: { kind: 'approval' } },
    });
    const [first, second] = held;
    expect(await approver.post(`/v1/approvals/${first.approval_id}/approve`, {})).toMatchObject({ status: 200 });
    await eventually(() => expect(seen()).toHaveLength(2));
    // A pause and a resume read the other approval again.
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, { execution_context: { waiting_for: { approval_id: second.approval_id } } });
    expect(seen()).toHaveLength(2);
    expect(await approver.post(`/v1/approvals/${second.approval_id}/reject`, {})).toMatchObject({ status: 200 });
    const run = await untilExecution(workspace, id, 'completed');
    expect(seen()).toHaveLength(2);
    const outputs = run.agents_output[0].actions.map(({ output }: { output: { error?: { code: string } } }) => output);
    expect(
      outputs.filter(({ error }: { error?: { code: string } }) => error?.code === 'approval_rejected'),
    ).toHaveLength(1);
  });

  test('a cancel withdraws the approvals of all calls', async () => {
    verifies('flow.reads-at-once', 'flow.control');
    const { workspace, approver, start } = await callingAtOnce(['a', 'b'], [askFor('a', 'b')]);
    const id = await start();
    const pending = async () => (await approver.get('/v1/approvals?status=pending')).body.data;
    await eventually(async () => expect(await pending()).toHaveLength(2));
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'failed');
    await eventually(async () => expect(await pending()).toHaveLength(0));
  });
});
