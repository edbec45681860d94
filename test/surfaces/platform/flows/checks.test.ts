import { describe, expect, test } from '@jest/globals';
import { initialState } from '../../../../workflows/agentflow-execution/state.js';
import { prepareExecution, startAsPlanned, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const set = (_id: string, next: string | null = null, value = '1') => ({
  _id,
  type: 'set',
  values: { v: value },
  next,
});
const fan = (branches: object[], change: object = {}) => ({ _id: 'fan', type: 'parallel', branches, ...change });
const flow = (...steps: object[]) => ({ name: 'Flow', initialAgent: 'a', steps });

/** Flows that cannot run, and what the refusal has to name. */
const wrong: [title: string, flow: object, ...named: string[]][] = [
  ['an unknown follower', flow(set('a', 'z')), 'steps.a.next', '"z"'],
  ['an unknown first step', { ...flow(set('a')), initialAgent: 'z' }, 'initialAgent', '"z"'],
  ['two steps with one id', flow(set('a'), set('a')), '"a" must be unique'],
  ['a step and an agent with one id', { ...flow(set('a')), agents: [{ _id: 'a', title: 'A' }] }, '"a" must be unique'],
  ['a cycle', flow(set('a', 'b'), set('b', 'a')), 'cycle', 'a → b → a'],
  [
    'a cycle of a step and an agent',
    { ...flow(set('a', 'b')), agents: [{ _id: 'b', title: 'B', next_agent: 'a' }] },
    'cycle',
  ],
  ['a loop that contains itself', flow({ _id: 'a', type: 'loop', first: 'a', until: 'true', max_rounds: 2 }), 'cycle'],
  [
    'a pointer out of a branch',
    flow(
      set('a', 'fan'),
      fan(
        [
          { name: 'x', first: 'b' },
          { name: 'y', first: 'c' },
        ],
        { next: 'd' },
      ),
      set('b', 'd'),
      set('c'),
      set('d'),
    ),
    'belongs to',
    '"d"',
  ],
  [
    'two branches that share a step',
    flow(
      set('a', 'fan'),
      fan([
        { name: 'x', first: 'b' },
        { name: 'y', first: 'b' },
      ]),
      set('b'),
    ),
    'belongs to',
  ],
  [
    'branches with one name',
    flow(
      set('a', 'fan'),
      fan([
        { name: 'x', first: 'b' },
        { name: 'x', first: 'c' },
      ]),
      set('b'),
      set('c'),
    ),
    'the name "x" must be unique',
  ],
  [
    'more needed branches than there are',
    flow(
      set('a', 'fan'),
      fan(
        [
          { name: 'x', first: 'b' },
          { name: 'y', first: 'c' },
        ],
        { join: { count: 3 } },
      ),
      set('b'),
      set('c'),
    ),
    'join.count',
  ],
  ['an expression that is none', flow(set('a', null, '1 +')), 'steps.a.values.v', 'CEL'],
  ['an unknown name', flow(set('a', null, 'nothing + 1')), 'Unknown variable: nothing'],
  ['the output of an unknown step', flow(set('a', null, 'outputs.z.v')), 'outputs.z'],
  ['item outside of a map', flow(set('a', null, 'item')), 'Unknown variable: item'],
  ['a type that does not fit', flow(set('a', null, '"a" + 1')), 'no such overload'],
  [
    'a condition that is no condition',
    flow({ _id: 'a', type: 'branch', cases: [{ name: 'x', when: '"yes"', next: null }] }),
    'must return true or false, not string',
  ],
  ['items that are no list', flow({ _id: 'a', type: 'map', items: '3', first: 'b' }, set('b')), 'must return a list'],
  [
    'a reserved name',
    flow({ _id: 'a', type: 'map', items: '[1]', as: 'outputs', first: 'b' }, set('b')),
    'reserved name',
  ],
  ['a regular expression', flow(set('a', null, 'goal.matches("(a+)+$")')), 'matches'],
  ['a wait without an end', flow({ _id: 'a', type: 'wait' }), 'requires one of'],
  ['a wait with two ends', flow({ _id: 'a', type: 'wait', seconds: 1, until: '"x"' }), 'requires one of'],
];

/** Requests that the schema refuses. */
const invalid: [title: string, flow: object, named: string][] = [
  ['one branch', flow(set('a', 'fan'), fan([{ name: 'x', first: 'b' }]), set('b')), 'branches'],
  ['51 branches', flow(fan(Array.from({ length: 51 }, (_one, at) => ({ name: `b${at}`, first: 'b' })))), 'branches'],
  ['an unknown type', flow({ _id: 'a', type: 'teleport' }), 'type'],
  ['an id with a slash', flow(set('a/b')), '_id'],
  ['an id of every object', flow(set('constructor')), '_id'],
  ['a long expression', flow(set('a', null, '1'.repeat(4001))), 'values'],
  ['1,001 rounds', flow({ _id: 'a', type: 'loop', first: 'b', until: 'true', max_rounds: 1001 }), 'max_rounds'],
  ['an unknown field', flow({ ...set('a'), then: 'b' }), 'then'],
];

describe('an agentflow is refused with', () => {
  test.concurrent.each(wrong)('%s', async (_title, body, ...named) => {
    verifies('flow.checks');
    const { api } = await createWorkspace(deps);
    const answer = await api.post('/agentflow', body);
    expect(answer).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
    for (const text of named) expect(answer.body.error_description).toContain(text);
  });

  test.concurrent.each(invalid)('%s', async (_title, body, named) => {
    verifies('flow.checks');
    const { api } = await createWorkspace(deps);
    const answer = await api.post('/agentflow', body);
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(answer.body.error_description).toContain(named);
  });

  test('all its problems at once', async () => {
    verifies('flow.checks');
    const { api } = await createWorkspace(deps);
    const { body } = await api.post('/agentflow', flow(set('a', 'z', 'nothing'), set('b', 'y', '1 +')));
    for (const text of ['steps.a.next', 'steps.a.values.v', 'steps.b.next', 'steps.b.values.v'])
      expect(body.error_description).toContain(text);
  });
});

test('steps are stored, changed, copied into runs and versions, and removed', async () => {
  verifies('flow.stored');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const steps = [set('a', 'b'), { _id: 'b', type: 'wait', seconds: 0 }];
  const created = await api.post('/agentflow', flow(...steps));
  expect(created).toMatchObject({ status: 201, body: { initialAgent: 'a', steps } });
  const id = created.body._id;
  expect((await api.get(`/agentflow/${id}`)).body.steps).toEqual(created.body.steps);
  // What was read can be sent back.
  expect(await api.patch(`/agentflow/${id}`, created.body)).toMatchObject({ status: 200, body: { steps } });
  const run = await api.post('/execute_flow', { agentflow_id: id, goal: 'g' });
  expect(run).toMatchObject({ status: 201, body: { agentflow: { steps } } });
  const changed = await api.patch(`/agentflow/${id}`, { steps: [set('a')] });
  expect(changed.body.steps).toMatchObject([{ _id: 'a', next: null }]);
  const emptied = await api.patch(`/agentflow/${id}`, { steps: [], initialAgent: '' });
  expect(emptied).toMatchObject({ status: 200, body: { steps: [] } });
});

describe('an expression', () => {
  const items = Array.from({ length: 1000 }, (_one, at) => at);
  test.each([
    ['takes too many steps', 'inputs.items.all(x, inputs.items.all(y, inputs.items.all(z, z >= 0.0)))', 'steps'],
    [
      'fails in each of too many steps',
      'inputs.items.exists(x, inputs.items.exists(y, inputs.items.exists(z, z.a)))',
      '',
    ],
    ['doubles a text', `${'[inputs.text].map(a, a + a)'.padEnd(20)}${'.map(a, a + a)'.repeat(24)}`, 'steps'],
    ['returns too much', 'inputs.items.map(x, inputs.text)', 'characters'],
    ['divides by zero', '1 / 0', 'division by zero'],
    ['reads a missing field', 'inputs.missing', 'missing'],
  ])('that %s fails its step, and the worker goes on', async (_title, text, named) => {
    verifies('flow.expressions.bounded');
    const workspace = await createWorkspace(deps);
    const input_variables = { items, text: 'x'.repeat(5000) };
    const id = await startExecution(workspace, flow(set('a', null, text)), { input_variables });
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    expect(execution_context.failure).toMatchObject({ code: 'validation_failed', step_id: 'a' });
    expect(execution_context.failure.message).toContain(named);
  });

  test('has a limit of items and of steps of the run', async () => {
    verifies('flow.expressions.bounded', 'flow.map');
    const workspace = await createWorkspace(deps);
    const input_variables = { items: [...items, 1000] };
    const each = { _id: 'a', type: 'map', items: 'inputs.items', first: 'b', concurrency: 50 };
    // Events are sent to the run itself, so it works on all items.
    const waiting = flow(each, set('b'), { _id: 'never', type: 'wait', event: { name: 'paid' } });
    const many = await startExecution(workspace, waiting, { input_variables });
    const tooMany = await untilExecution(workspace, many, 'failed');
    expect(tooMany.execution_context.failure.message).toContain('1001 items');
    // The limit ends the run, although the step collects the errors of its items.
    const collecting = flow({ ...each, on_error: 'collect' }, set('b'));
    const few = items.slice(0, 100);
    const { _id } = await prepareExecution(workspace, collecting, { input_variables: { items: few } });
    const resumed = initialState(1, { first_agent_id: 'a' });
    const done = { kind: 'set', agent_id: '', skill_id: null, action_id: null, name: '', attempts: 1, error: null };
    for (let at = 0; at < 9_990; at += 1)
      resumed.steps.push({ ...done, step_id: `earlier-${at}`, status: 'completed', started_at: 1, ended_at: 1 });
    resumed.status = 'running';
    resumed.published.steps = resumed.steps.length;
    await startAsPlanned(deps, _id, { resumed });
    const { execution_context } = await untilExecution(workspace, _id, 'failed');
    expect(execution_context.failure).toMatchObject({ reason: 'limit_exceeded' });
  });

  test('of which a run evaluates many ends the run at its limit', async () => {
    verifies('flow.expressions.bounded');
    const workspace = await createWorkspace(deps);
    const until = 'inputs.items.exists(x, inputs.items.exists(y, x + y < 0.0 && y > 0.0)) || index > 900';
    const loop = { _id: 'a', type: 'loop', first: 'b', until, max_rounds: 1000 };
    const input_variables = { items: items.slice(0, 150) };
    const { _id } = await prepareExecution(workspace, flow(loop, set('b')), { input_variables });
    const resumed = { ...initialState(1, { first_agent_id: 'a' }), status: 'running' as const, work: 19_500_000 };
    await startAsPlanned(deps, _id, { resumed });
    const { execution_context } = await untilExecution(workspace, _id, 'failed');
    expect(execution_context.failure).toMatchObject({ reason: 'limit_exceeded' });
    expect(execution_context.failure.message).toContain('evaluation steps');
  });
});
