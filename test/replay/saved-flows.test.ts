import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startExecution, untilExecution } from '../support/executions.js';
import { createWorkspace, personOf, useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';

/** Runs whose histories are saved, so that later releases replay them (`SAVE_HISTORIES`, docs/guides/operations.md). */
const deps = useDeps();

const code = (_id: string, source: string, next: string | null, inputs: object = {}) => ({
  ...{ _id, type: 'code', source, inputs, next },
});
const writer = { _id: 'writer', title: 'Writer', prompt: { template: 'Write about {{ goal }}' }, next_agent: 'each' };
/** Light steps alone, at the same time and in parts. */
const light = [
  code('first', 'return [1, 2, 3];', 'writer'),
  { _id: 'each', type: 'map', items: 'outputs.first', first: 'double', next: 'sum' },
  code('double', 'return inputs.n * 2;', null, { n: 'item' }),
  code('sum', 'return inputs.each.reduce((a, b) => a + b);', 'ask', { each: 'outputs.each' }),
];

test('a flow with light steps returns its output', async () => {
  verifies('durability.replay');
  const workspace = await createWorkspace(deps);
  const steps = light.map((step) => (step._id === 'sum' ? { ...step, next: null } : step));
  const id = await startExecution(workspace, { name: 'Light', initialAgent: 'first', agents: [writer], steps });
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toBe(12);
});

test('a flow that asks twice between light steps goes on with the answer and after the deadline', async () => {
  verifies('durability.replay');
  const workspace = await createWorkspace(deps);
  const person = await personOf(deps, workspace);
  const form = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
  const steps = [
    ...light,
    { _id: 'ask', type: 'ask', title: 'Amount', form, next: 'again' },
    { _id: 'again', type: 'ask', title: 'Again', form, deadline_seconds: 1, on_timeout: 'end', next: null },
    code('end', 'return inputs.amount + inputs.sum;', null, { amount: 'outputs.ask.amount', sum: 'outputs.sum' }),
  ];
  const id = await startExecution(workspace, { name: 'Asking', initialAgent: 'first', agents: [writer], steps });
  const item = await eventually(async () => {
    const { body } = await person.get('/inbox');
    const found = body.data.find(({ kind }: { kind: string }) => kind === 'question');
    expect(found).toBeDefined();
    return found;
  });
  const reply = { decision: 'accept', values: { amount: 30 } };
  expect(await person.post(`/inbox/${encodeURIComponent(item._id)}/reply`, reply)).toMatchObject({ status: 200 });
  expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toBe(42);
});
