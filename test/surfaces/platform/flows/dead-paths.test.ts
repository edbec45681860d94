import { describe, expect, test } from '@jest/globals';
import { ask, useActs, type Governed } from '../../../support/acts.js';
import { untilAvailable } from '../../../support/client.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, sink } = await useActs();
const { approvals, executions, questions } = deps.mongo.collections;

const wait = (_id: string, name: string, next: string | null = null) => ({ _id, type: 'wait', event: { name }, next });
const action = (of: Governed, _id: string) => ({
  ...{ _id, type: 'action', action: { name: 'Pay', endpoint: `${sink.url}${of.prefix}/${_id}` } },
});
const form = { type: 'object', properties: { yes: { type: 'boolean' } } };
const agent = (_id: string, change: object) => ({
  ...{ _id, title: _id, prompt: { template: 'Write {{ goal }}' }, ...change },
});
const skills = (of: Governed) => [
  {
    ...{ _id: 'skill', name: 'Calls', initial_action_id: 'call' },
    actions: [{ _id: 'call', name: 'Call', endpoint: `${sink.url}${of.prefix}/agent`, next_action_id: null }],
  },
];

/** What can wait for people or another run on a path: the nodes, of which the first begins the path, and how often it waits. */
const waiting: Record<string, (of: Governed, child: string) => { agents?: object[]; steps?: object[]; open: number }> =
  {
    'the act of an action step': (of) => ({ steps: [action(of, 'slow')], open: 1 }),
    'the act of an agent': (of) => ({ agents: [agent('slow', { skills: skills(of) })], open: 1 }),
    'the preview of acts': (of) => ({
      agents: [agent('slow', { skills: skills(of), is_preview_mode_enabled: true })],
      open: 1,
    }),
    'the preview of an output': () => ({ agents: [agent('slow', { is_preview_mode_enabled: true })], open: 1 }),
    'a question': () => ({ steps: [{ _id: 'slow', type: 'ask', form }], open: 1 }),
    'another run': (_of, child) => ({ steps: [{ _id: 'slow', type: 'flow', agentflow_id: child }], open: 1 }),
    'parts of its own': (of, child) => ({
      agents: [agent('shown', { is_preview_mode_enabled: true })],
      steps: [
        { _id: 'slow', type: 'map', items: '[1, 2]', first: 'fan' },
        {
          ...{ _id: 'fan', type: 'parallel' },
          branches: ['pay', 'asks', 'calls', 'shown'].map((name) => ({ name, first: name })),
        },
        action(of, 'pay'),
        { _id: 'asks', type: 'ask', form },
        { _id: 'calls', type: 'flow', agentflow_id: child },
      ],
      open: 8,
    }),
  };

/** How a path is left: the branches beside it, and the settings of their step. */
const ends: Record<string, { steps: object[]; race: object; branches: object[] }> = {
  'a sibling wins (join: any)': {
    ...{ steps: [wait('go', 'go')], race: { join: 'any' } },
    branches: [{ name: 'go', first: 'go' }],
  },
  'enough siblings have succeeded (join: count)': {
    steps: [wait('go', 'go'), wait('too', 'go', 'two'), { _id: 'two', type: 'set', values: { a: '1' } }],
    race: { join: { count: 2 } },
    branches: [
      { name: 'go', first: 'go' },
      { name: 'too', first: 'too' },
    ],
  },
  'a sibling fails': {
    ...{ steps: [wait('go', 'go', 'fails'), { _id: 'fails', type: 'code', source: 'throw new Error("no");' }] },
    race: { join: 'all' },
    branches: [{ name: 'go', first: 'go' }],
  },
};

/** Starts a run with a waiting path, which goes on after the path was left, until the event `end`. */
async function begun(of: Governed, what: string, how: string) {
  const { api } = of.workspace;
  const child = await api.post('/agentflow', { name: 'Child', initialAgent: 'w', steps: [wait('w', 'never')] });
  const { agents = [], steps = [], open } = waiting[what]?.(of, child.body._id) ?? { open: 0 };
  const end = ends[how];
  const id = await startExecution(of.workspace, {
    ...{ name: 'Race', initialAgent: 'outer', agents },
    steps: [
      // The failure of the race does not end the run.
      { _id: 'outer', type: 'map', items: '[1]', first: 'race', on_error: 'collect', next: 'rest' },
      {
        _id: 'race',
        type: 'parallel',
        branches: [{ name: 'slow', first: 'slow' }, ...(end?.branches ?? [])],
        ...end?.race,
      },
      ...steps,
      ...(end?.steps ?? []),
      wait('rest', 'end'),
    ],
  });
  await eventually(async () => expect(await openIn(of, id)).toBe(open));
  return id;
}

/** The number of what people can decide for the run, and of runs that it waits for. */
async function openIn({ workspace, approver }: Governed, id: string): Promise<number> {
  const inbox = await approver.get('/inbox?limit=100');
  const { projectID } = workspace;
  const counts = await Promise.all([
    approvals.countDocuments({ execution_id: id, status: 'pending' }),
    questions.countDocuments({ execution_id: id, status: 'waiting' }),
    executions.countDocuments({ projectID, parent_execution_id: id, status: { $in: ['ready', 'running', 'paused'] } }),
  ]);
  const { body } = await workspace.api.get(`/execute_flow/${id}`);
  const previews = Object.values<{ status: string }>(body.previews).filter(({ status }) => status === 'waiting').length;
  const [held, asked] = counts;
  const listed = inbox.body.data.filter((item: { status: string }) => item.status === 'waiting').length;
  // What waits is in the inbox, and nothing else.
  if (listed !== (held ?? 0) + (asked ?? 0) + previews) return -1;
  return counts.reduce((sum, each) => sum + each, previews);
}

async function send({ workspace }: Governed, id: string, name: string, count = 1): Promise<void> {
  const headers = { 'idempotency-key': `${name}-${count}` };
  const sent = await untilAvailable(() => workspace.api.post(`/execute_flow/${id}/events`, { name }, headers));
  expect(sent).toMatchObject({ status: 200 });
}

const cases = Object.keys(waiting).flatMap((what) => Object.keys(ends).map((how) => [what, how] as const));

describe('nothing waits on a path that was left, while its run goes on', () => {
  test.each(cases)('%s, when %s', async (what, how) => {
    verifies('flow.control.nothing-open');
    const of = await governed(ask);
    const id = await begun(of, what, how);
    for (let count = how.startsWith('enough') ? 2 : 1; count > 0; count -= 1) await send(of, id, 'go', count);
    await untilExecution(of.workspace, id, {
      status: 'running',
      execution_context: { waiting_for: { kind: 'event', name: 'end' } },
    });
    await eventually(async () => expect(await openIn(of, id)).toBe(0));
    expect(of.seen()).toBe(0);
    await send(of, id, 'end');
    await untilExecution(of.workspace, id, 'completed');
  });

  test.each(Object.keys(waiting))('%s, when the run is cancelled', async (what) => {
    verifies('flow.control.nothing-open');
    const of = await governed(ask);
    const id = await begun(of, what, 'a sibling fails');
    expect(await moveExecution(of.workspace, id, 'cancel')).toMatchObject({ status: 200 });
    await untilExecution(of.workspace, id, 'failed');
    await eventually(async () => expect(await openIn(of, id)).toBe(0));
  });
});
