import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { createTable } from '../../support/tables.js';
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
    expect(await group('Case 2').getByRole('combobox', { name: 'Condition' }).inputValue()).toBe('goal == "now"');
    expect(await choice('Otherwise').inputValue()).toBe('again');
    await node('total').click();
    await page.getByText('Expressions are in CEL and know').getByText('order', { exact: true }).waitFor();
    await node('Pay').click();
    expect(await text('Address').inputValue()).toBe('https://example.com/pay');
    const paid = group('Fields that are sent').getByRole('group', { name: 'Field 1' });
    expect(await paid.getByRole('combobox', { name: 'Expression' }).inputValue()).toBe('outputs.total.total');
    await paid.getByRole('textbox', { name: 'Name' }).fill('sum');
    await node('fan').click();
    expect(await text('Number of branches').inputValue()).toBe('1');
    await node('pause').click();
    expect(await text('Deadline (seconds)').inputValue()).toBe('60');
    await choice('Wait for').selectOption('A number of seconds');
    await node('again').click();
    expect(await choice('Carry').inputValue()).toBe('outputs.median');
    await node('median').click();
    expect(await text('JavaScript').inputValue()).toBe('return inputs.numbers[0];');
    expect(await violations(page)).toEqual([]);
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
  });
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  const [, , , pay, , pause] = body.steps;
  expect(pay).toMatchObject({ inputs: { sum: 'outputs.total.total' } });
  // The expression of a field follows its name.
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
    await group('Value 1').getByRole('combobox', { name: 'Expression' }).fill('inputs.price * missing');
    await button('Add value').click();
    await group('Value 2').getByRole('textbox', { name: 'Name' }).fill('total');
    await page.getByText('Name must be unique').waitFor();
    await button('Remove value 2').click();
    await graph.getByRole('button', { name: 'Large orders' }).press('Enter');
    await group('Case 1').getByRole('textbox', { name: 'Name' }).fill('large');
    await group('Case 1').getByRole('combobox', { name: 'Condition' }).fill('inputs.price >');
    await choice('Otherwise').selectOption('None (end of this part)');
    await group('Case 1').getByRole('combobox', { name: 'Next' }).selectOption('price · set');
    await graph.getByText('large', { exact: true }).waitFor();
    await button('Save').click();
    await page.getByText('Condition is not a valid CEL expression').waitFor();
    await page.getByRole('button', { name: 'price · set is not valid' }).click();
    await page.getByText('Expression is not a valid CEL expression: Unknown variable: missing').waitFor();
    await group('Value 1').getByRole('combobox', { name: 'Expression' }).fill('inputs.price * 2');
    await shot(page, 'flow-editor');
    expect(await violations(page)).toEqual([]);
    await node('Large orders').click();
    await group('Case 1').getByRole('combobox', { name: 'Condition' }).fill('inputs.price > 10');
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

test('changes of the graph and the form are undone and redone in one history, and steps are copied', async () => {
  verifies('console.agentflows.history');
  const person = await createPerson(deps);
  const { id } = await made(person, { name: 'Orders', agents: [agents[0]] });
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
      const { field: text, node, button } = parts(page);
      const graph = page.getByRole('group', { name: 'Graph of the agents and steps' });
      // Graph and form are side by side.
      await graph.getByRole('button', { name: 'Writer' }).waitFor();
      const [left, right] = [await graph.boundingBox(), await text('Title').boundingBox()];
      expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual(right?.x ?? 0);
      await text('Title').press('End');
      await text('Title').pressSequentially(' of letters');
      await button('Add step…').click();
      await page.getByRole('menuitem', { name: /^Set/ }).click();
      await text('Id').fill('price');
      await graph.getByRole('button', { name: 'price' }).waitFor();
      await text('Id').press('Control+z');
      expect(await text('Id').inputValue()).toBe('set_1');
      await button('Undo').click();
      await graph.getByRole('button', { name: 'set_1' }).waitFor({ state: 'detached' });
      // Typing in one field is one change.
      await button('Undo').click();
      expect(await text('Title').inputValue()).toBe('Writer');
      expect(await button('Undo').isDisabled()).toBe(true);
      await page.getByText('You have unsaved changes').waitFor({ state: 'detached' });
      for (let change = 0; change < 3; change += 1) await button('Redo').click();
      await graph.getByRole('button', { name: 'Writer of letters' }).waitFor();
      await graph.getByRole('button', { name: 'price' }).press('Enter');
      await page.getByRole('combobox', { name: 'Expression' }).fill('1');
      await graph.getByRole('button', { name: 'price' }).press('Control+c');
      await page.getByText('Copied price · set.').waitFor();
      await page.keyboard.press('Control+v');
      await node('price_1').waitFor();
      await graph.getByRole('button', { name: 'price_1' }).waitFor();
      // The graph is drawn anew around the node that has the focus, and no key is lost.
      const focused = () => page.evaluate(() => (globalThis as any).document.activeElement?.textContent?.trim());
      expect(await focused()).toMatch(/^price\b/);
      await page.keyboard.press('Control+z');
      await page.keyboard.press('Control+y');
      await graph.getByRole('button', { name: 'price_1' }).waitFor();
      expect(await focused()).toMatch(/^price\b/);
      await button('Paste an agent or step').click();
      await node('price_2').waitFor();
      await text('Title').press('Control+z');
      await node('price_2').waitFor({ state: 'detached' });
      await shot(page, 'editor-sides');
      await button('Save').click();
      await page.getByText('Saved.').waitFor();
    },
    { width: 1440, height: 900 },
  );
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  expect(body).toMatchObject({ agents: [{ title: 'Writer of letters', next_agent: 'price' }] });
  expect(body.steps).toMatchObject([
    { _id: 'price', next: 'price_1' },
    { _id: 'price_1', next: null },
  ]);
});

test('a model or conditions decide a branch', async () => {
  verifies('console.agentflows.steps');
  const person = await createPerson(deps);
  const cases = [
    { name: 'invoice', when: 'true', next: 'writer' },
    { name: 'other', when: 'true', next: null },
  ];
  const { id } = await made(person, {
    name: 'Mails',
    agents: [agents[0]],
    initialAgent: 'topic',
    steps: [{ _id: 'topic', type: 'branch', cases, otherwise: 'writer' }],
  });
  const stepOf = async () => (await person.workspace.api.get(`/agentflow/${id}`)).body.steps[0];
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { field: text, choice, node, button, group } = parts(page);
    await node('topic').click();
    await choice('Decided by').selectOption('A model');
    expect(await choice('Otherwise').count()).toBe(0);
    await text('Instructions').fill('What is {{ goal }} about?');
    await group('Case 1').getByRole('textbox', { name: 'Description' }).fill('An invoice or a payment');
    await group('Case 2').getByRole('textbox', { name: 'Description' }).fill('Anything else');
    await shot(page, 'editor-decide');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    expect(await stepOf()).toMatchObject({
      decide: { instructions: 'What is {{ goal }} about?' },
      cases: [{ name: 'invoice', description: 'An invoice or a payment', next: 'writer' }, { name: 'other' }],
      otherwise: null,
    });
    await choice('Decided by').selectOption('Conditions');
    await group('Case 1').getByRole('combobox', { name: 'Condition' }).fill('goal == "pay"');
    await group('Case 2').getByRole('combobox', { name: 'Condition' }).fill('true');
    await button('Save').click();
    await page.getByText('Saved.').last().waitFor();
    await eventually(async () => expect(await stepOf()).not.toHaveProperty('decide'));
  });
  expect((await stepOf()).cases).toMatchObject([{ when: 'goal == "pay"' }, { when: 'true' }]);
});

test('schemas and the form of a question are edited as fields and as JSON', async () => {
  verifies('console.agentflows.schemas', 'console.accessible');
  const person = await createPerson(deps);
  const nested = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const form = { type: 'object', properties: { accept: { type: 'boolean' }, address: nested }, required: ['accept'] };
  const { id } = await made(person, {
    name: 'Orders',
    agents: [agents[0]],
    initialAgent: 'offer',
    steps: [{ _id: 'offer', type: 'ask', form, next: null }],
  });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { choice, node, button, group } = parts(page);
    const inputs = group('Inputs of a run');
    await inputs.getByRole('button', { name: 'Add field' }).click();
    const first = inputs.getByRole('group', { name: 'Field 1' });
    await first.getByRole('textbox', { name: 'Name' }).fill('country');
    await first.getByRole('textbox', { name: 'Description' }).fill('Where it goes');
    await first.getByRole('textbox', { name: 'Allowed values' }).fill('NO\nSE\n');
    await inputs.getByRole('button', { name: 'Add field' }).click();
    const second = inputs.getByRole('group', { name: 'Field 2' });
    await second.getByRole('textbox', { name: 'Name' }).fill('country');
    await inputs.getByText('Name must be unique').waitFor();
    await second.getByRole('textbox', { name: 'Name' }).fill('pieces');
    await second.getByRole('combobox', { name: 'Type' }).selectOption('Whole number');
    await second.getByRole('checkbox', { name: 'Required' }).uncheck();
    await button('Result of a run: edit as JSON').click();
    const result = page.getByRole('textbox', { name: 'Result of a run as JSON Schema' });
    await result.fill('{ "type": "object",');
    await group('Result of a run').getByText('not valid JSON').waitFor();
    await result.fill('{ "type": "object", "properties": { "total": { "type": "number" } } }');
    await node('offer').click();
    const answer = group('Form of the answer');
    const address = answer.getByRole('group', { name: 'Field 2' });
    expect(await address.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('address');
    await answer.getByRole('group', { name: 'Field 1' }).getByRole('textbox', { name: 'Name' }).fill('agree');
    await group('Who may answer').getByRole('checkbox', { name: 'approver' }).check();
    await choice('If nobody answers').selectOption('Writer');
    await shot(page, 'editor-schemas');
    expect(await violations(page)).toEqual([]);
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
  });
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  const country = { type: 'string', description: 'Where it goes', enum: ['NO', 'SE'] };
  expect(body.input_schema).toEqual({
    type: 'object',
    properties: { country, pieces: { type: 'integer' } },
    required: ['country'],
  });
  expect(body.output_schema).toEqual({ type: 'object', properties: { total: { type: 'number' } } });
  expect(body.steps[0]).toMatchObject({
    form: { type: 'object', properties: { agree: { type: 'boolean' }, address: nested }, required: ['agree'] },
    to: { roles: ['APPROVER'], people: [] },
    on_timeout: 'writer',
  });
});

test('an expression completes the names it can use, and shows its value in a past run', async () => {
  verifies('console.agentflows.expressions', 'console.accessible');
  const person = await createPerson(deps);
  const { api } = person.workspace;
  const { id } = await made(person, {
    name: 'Orders',
    initialAgent: 'each',
    agents: [],
    input_schema: { type: 'object', properties: { orders: { type: 'array' } } },
    steps: [
      { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'price' },
      { _id: 'price', type: 'set', values: { total: 'order.price' } },
    ],
  });
  const run = { agentflow_id: id, goal: 'Price the orders', input_variables: { orders: [{ price: 60, count: 2 }] } };
  const { body: prepared } = await api.post('/execute_flow?execute=true', run);
  await untilExecution(person.workspace, prepared.execution_id, 'completed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { node, button, group } = parts(page);
    await node('price').click();
    const runs = page.getByRole('combobox', { name: 'Show values of' });
    await runs.selectOption(prepared.execution_id);
    const value = group('Value 1');
    const expression = value.getByRole('combobox', { name: 'Expression' });
    await value.getByText('= 60 in each/0').waitFor();
    await expression.fill('');
    await expression.pressSequentially('size(inputs.');
    await value.getByRole('option', { name: 'inputs.orders', selected: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await shot(page, 'editor-expression');
    await expression.press('Enter');
    await expression.pressSequentially(') + in');
    await expression.press('ArrowDown');
    await value.getByRole('option', { name: 'index', selected: true }).waitFor();
    await expression.press('Tab');
    expect(await expression.inputValue()).toBe('size(inputs.orders) + index');
    await value.getByText('= 1 in each/0').waitFor();
    await expression.fill('');
    await expression.pressSequentially('inputs.orders.map(o, o.price).su');
    await value.getByRole('option', { name: '.sum()' }).waitFor();
    await expression.press('ArrowDown');
    await expression.press('Enter');
    expect(await expression.inputValue()).toBe('inputs.orders.map(o, o.price).sum()');
    await value.getByText('= 60 in each/0').waitFor();
    await expression.fill('order.missing');
    await value.getByText('No such key: missing').waitFor();
    await expression.fill('order.price * order.count');
    await value.getByText('= 120 in each/0').waitFor();
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
  });
  expect((await api.get(`/agentflow/${id}`)).body.steps[1].values).toEqual({ total: 'order.price * order.count' });
});

test('the rows of a table are chosen as the items of a map, and what the table lacks is refused at its field', async () => {
  verifies('console.agentflows.steps');
  const person = await createPerson(deps);
  const columns = [
    { column_name: 'Company', column_type: 'string' },
    { column_name: 'Price', column_type: 'number' },
  ];
  const table = await createTable(person.workspace, columns, 'Leads');
  await table.insert(['one', 'two', 'three', 'four'].map((company, at) => ({ company, price: at * 10 })));
  const { id } = await made(person, {
    ...{ name: 'Leads', agents: [], initialAgent: 'each' },
    steps: [
      { _id: 'each', type: 'map', items: 'inputs.leads', as: 'lead', first: 'note' },
      { _id: 'note', type: 'set', values: { company: 'lead.company' } },
    ],
  });
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { field: text, choice, node, button } = parts(page);
    await node('each').click();
    await choice('Items').selectOption('Rows of a table');
    await choice('Table').selectOption('Leads');
    await text('Filter').fill('{"price": {"gte": 10}');
    await page.getByRole('alert').getByText('not valid JSON').waitFor();
    await text('Filter').fill('{"cost": {"gte": 10}}');
    await button('Save').click();
    await page.getByRole('alert').getByText('cost').first().waitFor();
    expect(await text('Filter').getAttribute('aria-invalid')).toBe('true');
    await text('Filter').fill('{"price": {"gte": 10}}');
    await text('Order').fill('-price');
    await text('Maximum rows').fill('2');
    expect(await violations(page)).toEqual([]);
    await shot(page, 'flow-rows');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    complaints.splice(0);
  });
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  const items = { table_id: table._id, filter: { price: { gte: 10 } }, sort: '-price', limit: 2 };
  expect(body.steps[0]).toMatchObject({ items });
  const { body: run } = await person.workspace.api.post('/execute_flow', { agentflow_id: id, goal: 'all' });
  await person.workspace.api.post(`/execute_flow/${run.execution_id}/execute`, {});
  const { conclusion } = await untilExecution(person.workspace, run.execution_id, 'completed');
  expect(conclusion.output).toEqual([{ company: 'four' }, { company: 'three' }]);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const { field: text, choice, node } = parts(page);
    await node('each').click();
    // The name is shown when the tables have been read.
    const chosen = () => choice('Table').locator('option:checked').textContent();
    await eventually(async () => expect(await chosen()).toBe('Leads'));
    expect(JSON.parse(await text('Filter').inputValue())).toEqual(items.filter);
    expect(await person.workspace.api.delete(table.path)).toMatchObject({ status: 200 });
    await page.reload();
    await node('each').click();
    await eventually(async () => expect(await chosen()).toBe(table._id));
  });
});
