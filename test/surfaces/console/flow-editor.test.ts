import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

const agents = [
  { _id: 'writer', title: 'Writer', prompt: { template: 'Thank {{ goal }}' } },
  { _id: 'checker', title: 'Checker', prompt: { template: 'Check {{ previous }}' }, next_agent: 'sort' },
];
const field = { field_id: 'amount', type: 'number', required: true, label: '', description: '', mark: 'amount' };
/** A step of each type. */
const everyType = {
  name: 'Orders',
  agents,
  initialAgent: 'checker',
  steps: [
    {
      ...{ _id: 'sort', type: 'branch', title: 'Sort by topic', otherwise: 'again' },
      cases: [
        { name: 'orders', when: 'size(inputs.orders) > 0', next: 'each' },
        { name: 'urgent', when: 'goal == "now"', next: 'fan' },
      ],
    },
    { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'total', on_error: 'skip', next: null },
    { _id: 'total', type: 'set', values: { total: 'order.price * 2', name: 'order.name' }, next: 'pay' },
    {
      ...{ _id: 'pay', type: 'action', title: 'Pay', connector_id: null, inputs: { amount: 'outputs.total.total' } },
      action: { name: 'Pay', method: 'POST', endpoint: 'https://example.com/pay', input_schema: { fields: [field] } },
    },
    {
      ...{ _id: 'fan', type: 'parallel', join: { count: 1 }, next: null },
      branches: [
        { name: 'left', first: 'writer' },
        { name: 'right', first: 'pause' },
      ],
    },
    { _id: 'pause', type: 'wait', event: { name: 'paid', match: 'event.id == goal', deadline_seconds: 60 } },
    { _id: 'again', type: 'loop', first: 'median', until: 'index > 1', max_rounds: 3, carry: 'outputs.median' },
    { _id: 'median', type: 'code', source: 'return inputs.numbers[0];', inputs: { numbers: '[1, 2]' } },
  ],
};

async function made({ workspace }: Person, body: object): Promise<{ id: string; stored: any }> {
  const answer = await workspace.api.post('/agentflow', body);
  expect(answer).toMatchObject({ status: 201 });
  return { id: answer.body._id, stored: answer.body };
}

const parts = (page: Page) => ({
  field: (name: string) => page.getByRole('textbox', { name, exact: true }),
  choice: (name: string) => page.getByRole('combobox', { name, exact: true }),
  node: (name: string) => page.getByRole('list', { name: 'Agents and steps' }).getByRole('button', { name }),
  button: (name: string) => page.getByRole('button', { name, exact: true }),
  group: (name: string) => page.getByRole('group', { name, exact: true }),
});

test('the editor keeps the steps of a flow, offers them as targets, and has a form for each type', async () => {
  verifies('console.agentflows.steps');
  const person = await createPerson(deps);
  const { id, stored } = await made(person, everyType);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { field: text, choice, node, button, group } = parts(page);
    await text('Name').fill('Orders of today');
    await node('Checker').click();
    expect(await choice('Next agent').locator('option').allTextContents()).toContain('Sort by topic · branch');
    expect(await choice('First agent or step').inputValue()).toBe('checker');
    await text('Title').fill('Editor');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    const { body } = await person.workspace.api.get(`/agentflow/${id}`);
    expect(body).toMatchObject({ name: 'Orders of today', agents: [{ title: 'Writer' }, { title: 'Editor' }] });
    expect(body.steps).toEqual(stored.steps);

    await node('Sort by topic').click();
    expect(await group('Case 2').getByRole('textbox', { name: 'Condition' }).inputValue()).toBe('goal == "now"');
    expect(await choice('Otherwise').inputValue()).toBe('again');
    await node('total').click();
    await page.getByText('Expressions are in CEL and know').getByText('order', { exact: true }).waitFor();
    await node('Pay').click();
    expect(await text('Endpoint').inputValue()).toBe('https://example.com/pay');
    await group('Input 1').getByRole('textbox', { name: 'Name' }).fill('sum');
    await node('fan').click();
    expect(await text('Number of branches').inputValue()).toBe('1');
    await node('pause').click();
    expect(await text('Deadline (seconds)').inputValue()).toBe('60');
    await choice('Wait for').selectOption('A number of seconds');
    await node('again').click();
    expect(await text('Carry').inputValue()).toBe('outputs.median');
    await node('median').click();
    expect(await text('JavaScript').inputValue()).toBe('return inputs.numbers[0];');
    expect(await violations(page)).toEqual([]);
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
  });
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  const [, , , pay, , pause] = body.steps;
  expect(pay).toMatchObject({ inputs: { sum: 'outputs.total.total' } });
  // The field of the action follows the name of its input.
  expect(pay.action.input_schema.fields).toEqual([{ ...field, field_id: 'sum' }]);
  expect(pause).toEqual({ _id: 'pause', type: 'wait', title: '', seconds: 60, next: null });
});

test('a branch and a set step are added by keyboard and connected, and problems are at their fields', async () => {
  verifies('console.agentflows.steps', 'console.accessible');
  const person = await createPerson(deps);
  const { id } = await made(person, { name: 'Orders', agents: [agents[0]] });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { field: text, choice, node, button, group } = parts(page);
    await button('Graph').click();
    await button('Add step…').press('Enter');
    await page.getByRole('menuitem', { name: /^Branch/ }).waitFor();
    await shot(page, 'flow-menu');
    await page.keyboard.type('bra');
    await page.keyboard.press('Enter');
    await text('Title').fill('Large orders');
    const graph = page.getByRole('group', { name: 'Graph of the agents and steps' });
    await graph.getByRole('button', { name: 'Large orders' }).waitFor();
    await button('Add step…').click();
    await page.getByRole('menuitem', { name: /^Set/ }).click();
    await text('Id').fill('price');
    await group('Value 1').getByRole('textbox', { name: 'Name' }).fill('total');
    await group('Value 1').getByRole('textbox', { name: 'Expression' }).fill('inputs.price * missing');
    await button('Add value').click();
    await group('Value 2').getByRole('textbox', { name: 'Name' }).fill('total');
    await page.getByText('Name must be unique').waitFor();
    await button('Remove value 2').click();
    await graph.getByRole('button', { name: 'Large orders' }).press('Enter');
    await group('Case 1').getByRole('textbox', { name: 'Name' }).fill('large');
    await group('Case 1').getByRole('textbox', { name: 'Condition' }).fill('inputs.price >');
    await choice('Otherwise').selectOption('None (end of this part)');
    await group('Case 1').getByRole('combobox', { name: 'Next' }).selectOption('price · set');
    await graph.getByText('large', { exact: true }).waitFor();
    await button('Save').click();
    await page.getByText('Condition is not a valid CEL expression').waitFor();
    await page.getByRole('button', { name: 'price · set is not valid' }).click();
    await page.getByText('Expression is not a valid CEL expression: Unknown variable: missing').waitFor();
    await group('Value 1').getByRole('textbox', { name: 'Expression' }).fill('inputs.price * 2');
    await shot(page, 'flow-editor');
    expect(await violations(page)).toEqual([]);
    await node('Large orders').click();
    await group('Case 1').getByRole('textbox', { name: 'Condition' }).fill('inputs.price > 10');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    const { body } = await person.workspace.api.get(`/agentflow/${id}`);
    expect(body.agents).toMatchObject([{ _id: 'writer', next_agent: 'branch_1' }]);
    expect(body.steps).toEqual([
      {
        ...{ _id: 'branch_1', type: 'branch', title: 'Large orders', otherwise: null },
        cases: [{ name: 'large', when: 'inputs.price > 10', next: 'price' }],
      },
      { _id: 'price', type: 'set', title: '', values: { total: 'inputs.price * 2' }, next: null },
    ]);
    // What led to the removed step leads to what followed it.
    await button('Remove step').click();
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
  });
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  expect(body.agents).toMatchObject([{ next_agent: null }]);
  expect(body.steps).toMatchObject([{ _id: 'price' }]);
});
