import { expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { actionTo } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';
import { create, edit, pointed, publish } from './releases.js';

const deps = useDeps();

const writer = { _id: 'writer', title: 'Writer' };
const checker = { _id: 'checker', title: 'Checker' };

/** A change of each field of an agentflow that decides what a run does. */
const released: Record<string, unknown> = {
  name: 'Other',
  image: 'https://cdn.example/other.png',
  description: 'Other',
  role: 'other',
  initialAgent: 'checker',
  agentflow_type: 'other',
  goal_structure: { about: 'claims' },
  conclusion: { kind: 'text' },
  failover_goal: 'Say that it failed',
  anomaly_detection: { is_enabled: true, instructions: 'Look for names.' },
  input_schema: { type: 'object', required: ['claim'] },
  output_schema: { type: 'object', required: ['sum'] },
  steps: [{ _id: 'end', type: 'set', values: { v: '1' } }],
  agents: [writer, { ...checker, role: 'other' }],
};
/** A change of each setting that applies to all releases of the agentflow. */
const settings: Record<string, unknown> = { isActive: false, concurrency: { limit: 2 }, expose_as_tool: true };
/** Not a part of the agentflow. */
const transport = ['projectID', 'expected'];

test('each field of an agentflow is part of its releases or a setting of all of them', async () => {
  verifies('release.covers-fields');
  const workspace = await createWorkspace(deps);
  const { body: document } = await workspace.api.get('/openapi.json');
  expect(Object.keys(document.components.schemas.AgentflowPatch.properties).sort()).toEqual(
    [...Object.keys(released), ...Object.keys(settings), ...transport].sort(),
  );
  const id = await create(workspace, { name: 'Claims', agents: [writer, checker] });
  const { digest } = await publish(workspace, id);
  for (const [field, value] of Object.entries(settings)) {
    await edit(workspace, id, { [field]: value });
    expect({ field, digest: (await publish(workspace, id)).digest }).toEqual({ field, digest });
  }
  const { body: before } = await workspace.api.get(`/agentflow/${id}`);
  for (const [field, value] of Object.entries(released)) {
    const flow = { ...(field === 'steps' && { agents: [{ ...writer, next_agent: 'end' }, checker] }), [field]: value };
    await edit(workspace, id, flow);
    const { body: diff } = await workspace.api.get(`/agentflow/${id}/diff?from=1`);
    expect({ field, changes: diff.changes.length > 0 }).toEqual({ field, changes: true });
    expect({ field, isNew: (await publish(workspace, id)).digest !== digest }).toEqual({ field, isNew: true });
    await edit(workspace, id, {
      agents: [writer, checker],
      steps: [],
      [field]: before[field] ?? null,
      ...(field === 'agents' && { agents: [writer, checker] }),
      ...(field === 'steps' && { steps: [] }),
    });
    expect({ field, digest: (await publish(workspace, id)).digest }).toEqual({ field, digest });
  }
});

const set = (id: string, next: string | null = null) => ({ _id: id, type: 'set', values: { v: '1' }, next });
const amount = { field_id: 'sum', type: 'number', mark: 'amount' };
const act = (id: string, url: string, more: object = {}) => ({
  ...{ _id: id, type: 'action', next: null, title: 'Act' },
  action: { ...actionOf(url), ...more },
});
const actionOf = (endpoint: string) => {
  const { _id, next_action_id: _next, is_terminal: _end, ...action } = actionTo(endpoint);
  return action;
};
const ask = (more: object = {}) => ({
  _id: 'ask',
  type: 'ask',
  title: 'Ask',
  form: { type: 'object' },
  next: 'end',
  ...more,
});
const map = (concurrency: number) => ({
  ...{ _id: 'each', type: 'map', items: '[1]', as: 'n', first: 'end', next: null },
  concurrency,
});

/** What a change adds to what a run may do. */
const changes: [what: string, before: object[], after: object[], risks: string[]][] = [
  ['a question is gone', [ask(), set('end')], [set('end')], ['dropped_question: no person is asked any more']],
  [
    'a question that nobody answers no longer stops the run',
    [ask(), set('end')],
    [ask({ on_timeout: 'end' }), set('end')],
    ['dropped_question: goes on without an answer after its deadline'],
  ],
  [
    'an act without the mark takes the place of one with it',
    [act('pay', 'https://a.example/pay', { input_schema: { fields: [amount] } })],
    [act('pay-2', 'https://a.example/pay', { input_schema: { fields: [{ ...amount, mark: undefined }] } })],
    ['dropped_mark: no field is marked as amount any more, which rules may read'],
  ],
  ['more items at once', [map(2), set('end')], [map(9), set('end')], ['larger_budget: 9 items at once instead of 2']],
  [
    'another server behind credentials in the address',
    [act('a', 'https://a.example/x')],
    [act('a', 'https://a.example@b.example/x')],
    ['new_host: calls b.example'],
  ],
];

test.each(changes)('the risks of a difference name it: %s', async (_what, before, after, risks) => {
  verifies('release.risks');
  const workspace = await createWorkspace(deps);
  const first = (steps: any[]) => ({ initialAgent: steps[0]._id, steps });
  const id = await create(workspace, { name: 'Flow', ...first(before) });
  await publish(workspace, id);
  await edit(workspace, id, first(after));
  const { body } = await workspace.api.get(`/agentflow/${id}/diff?from=1`);
  expect(body.risks.map(({ kind, text }: any) => `${kind}: ${text}`)).toEqual(risks);
});

test('the risks of a difference name the agentflows that runs start, and their new releases', async () => {
  verifies('release.risks');
  const workspace = await createWorkspace(deps);
  const child = await create(workspace, { name: 'Child', initialAgent: 'end', steps: [set('end')] });
  await pointed(workspace, child, 'production', { version: (await publish(workspace, child)).version, expected: null });
  const id = await create(workspace, { name: 'Parent', initialAgent: 'end', steps: [set('end')] });
  await publish(workspace, id);
  const risksSince = async (version: number) => {
    const { body } = await workspace.api.get(`/agentflow/${id}/diff?from=${version}`);
    return body.risks.map(({ kind, path }: any) => `${kind} ${path}`);
  };
  await edit(workspace, id, { initialAgent: 'child', steps: [{ _id: 'child', type: 'flow', agentflow_id: child }] });
  expect(await risksSince(1)).toEqual(['new_flow steps/child']);
  const { version } = await publish(workspace, id);
  await edit(workspace, child, { steps: [{ ...set('end'), values: { v: '2' } }] });
  const second = await publish(workspace, child);
  await workspace.api.post(`/agentflow/${child}/promote`, {});
  expect(second.version).toBe(2);
  expect(await risksSince(version)).toEqual(['changed_flow steps/child']);
});

test('the risks of a difference name new operations of a connector', async () => {
  verifies('release.risks');
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const config = await api.post(`/actions/messaging/config?projectID=${projectID}`, { name: 'Chats', config: {} });
  expect(config).toMatchObject({ status: 200 });
  const chats = (endpoint: string) => ({
    ...{ _id: 'chats', type: 'action', title: 'Chats', connector_id: config.body._id, next: null },
    action: { name: 'Chats', category: 'messaging', endpoint },
  });
  const id = await create(workspace, { name: 'Flow', initialAgent: 'chats', steps: [chats('list_chats')] });
  await publish(workspace, id);
  await edit(workspace, id, { steps: [chats('send_message')] });
  const { body } = await api.get(`/agentflow/${id}/diff?from=1`);
  expect(body.risks).toEqual([
    { kind: 'new_method', path: 'steps/chats', text: 'calls the operation send_message of messaging' },
  ]);
});
