import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

const flow = {
  name: 'Orders',
  initialAgent: 'each',
  input_schema: { type: 'object', properties: { orders: { type: 'array' } } },
  agents: [{ _id: 'writer', title: 'Writer', prompt: { template: 'Thank for {{ outputs_by_id.sum.total }}' } }],
  steps: [
    { _id: 'each', type: 'map', items: 'inputs.orders', as: 'order', first: 'price', next: 'sum' },
    { _id: 'price', type: 'set', values: { total: 'order.price * 2' } },
    { _id: 'sum', type: 'set', values: { total: 'size(outputs.each) * 10' }, next: 'writer' },
  ],
};

const narrowAndDark = { width: 375, dark: true };

const parts = (page: Page) => {
  const dialog = page.getByRole('dialog');
  return {
    dialog,
    node: (name: string) => page.getByRole('list', { name: 'Agents and steps' }).getByRole('button', { name }),
    field: (name: string) => dialog.getByRole('textbox', { name, exact: true }),
    result: dialog.getByRole('region', { name: 'Result' }),
    output: dialog.getByRole('region', { name: 'Output of the step' }),
    tries: () => dialog.getByRole('button', { name: 'Try', exact: true }).click(),
    open: () => page.getByRole('button', { name: 'Try…' }).click(),
    close: () => dialog.getByRole('button', { name: 'Close' }).click(),
  };
};

test('the form of each step and agent tries it alone, and shows its output, its error and how long it took', async () => {
  verifies('console.agentflows.try');
  const person = await createPerson(deps);
  const { body } = await person.workspace.api.post('/agentflow', flow);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${body._id}`));
    const { dialog, node, field, result, output, tries, open, close } = parts(page);
    await node('sum').click();
    await open();
    expect(JSON.parse(await field('Earlier outputs').inputValue())).toEqual({ each: null });
    expect(JSON.parse(await field('Inputs').inputValue())).toEqual({ orders: [] });
    expect(await field('Names of its part').count()).toBe(0);
    await tries();
    await result.getByText(/no such overload|size/).waitFor();
    await field('Earlier outputs').fill('{"each": [1, 2]');
    await tries();
    await dialog.getByText('must be valid JSON').waitFor();
    await field('Earlier outputs').fill('{"each": [1, 2]}');
    await tries();
    await output.getByText('"total": 20').waitFor();
    await result.getByText('Duration').waitFor();
    expect(await violations(page)).toEqual([]);
    await shot(page, 'try-step');
    await close();

    await node('price').click();
    await open();
    expect(JSON.parse(await field('Names of its part').inputValue())).toEqual({ item: null, order: null, index: 0 });
    await field('Names of its part').fill('{"order": {"price": 4}, "nobody": 1}');
    await tries();
    await dialog.getByText(/nobody.*does not know this name/).waitFor();
    await field('Names of its part').fill('{"order": {"price": 4}}');
    await tries();
    await output.getByText('"total": 8').waitFor();
    await close();

    await node('Writer').click();
    await open();
    await field('Earlier outputs').fill('{"sum": {"total": 7}}');
    await tries();
    await output.getByText('Thank for 7').waitFor();
    await result.getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL('**/runs/**');
  });
});

test('a step is tried with what it knew in a past run, and one that is not saved only after it is saved', async () => {
  verifies('console.agentflows.try');
  const person = await createPerson(deps);
  const { workspace } = person;
  const input_variables = { orders: [{ price: 3 }, { price: 5 }] };
  const id = await startExecution(workspace, flow, { goal: 'past', input_variables });
  const { agentflow_id } = await untilExecution(workspace, id, 'completed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${agentflow_id}`));
    const { dialog, node, field, output, tries, open, close } = parts(page);
    await node('sum').click();
    await page.getByRole('combobox', { name: 'Show values of' }).selectOption({ index: 1 });
    await open();
    const outputs = { each: [{ total: 6 }, { total: 10 }] };
    await field('Earlier outputs').waitFor();
    expect(JSON.parse(await field('Earlier outputs').inputValue())).toEqual(outputs);
    expect(JSON.parse(await field('Inputs').inputValue())).toEqual(input_variables);
    await tries();
    await output.getByText('"total": 20').waitFor();
    expect(await violations(page)).toEqual([]);
    await shot(page, 'try-step-narrow');
    await close();
    await node('price').click();
    await open();
    await field('Names of its part').waitFor();
    expect(JSON.parse(await field('Names of its part').inputValue())).toMatchObject({ order: { price: 3 }, index: 0 });
    await close();
    await page.getByRole('button', { name: 'Add step…' }).click();
    await page.getByRole('menuitem', { name: /^Set/ }).click();
    await open();
    await dialog.getByText('Save the agentflow first').waitFor();
  }, narrowAndDark);
});
