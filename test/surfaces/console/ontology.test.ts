import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

test('the ontology is edited in a form, saved as a draft and put into force', async () => {
  verifies('console.ontology', 'console.accessible');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  const stateOf = async () => (await gateway.post('/v1/ontology', {})).body;
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/ontology'));
      await page.getByText('No version is in force yet.').waitFor();
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      const group = (name: string) => page.getByRole('group', { name, exact: true });
      const name = (within: string) => group(within).getByRole('textbox', { name: 'Name', exact: true }).first();
      await button('Add entity type').click();
      await name('Entity type ').fill('Customer');
      await group('Entity type Customer').getByRole('button', { name: 'Add property' }).click();
      const property = group('Property 1');
      await property.getByRole('textbox', { name: 'Name' }).fill('ssn');
      await property.getByRole('checkbox', { name: /^Personal/ }).check();
      await property.getByRole('combobox', { name: 'Values' }).selectOption('One: a new value replaces it');
      await page.getByText('1 property, 1 personal').waitFor();
      await button('Add entity type').click();
      await name('Entity type ').fill('Customer');
      await page.getByRole('alert').getByText('The name "Customer" is used twice').waitFor();
      expect(await button('Save draft').isDisabled()).toBe(true);
      await name('Entity type Customer').waitFor();
      await group('Entity type Customer').nth(1).getByRole('textbox', { name: 'Name' }).fill('Product');
      await button('Add relationship type').click();
      await name('Relationship type ').fill('OWNS');
      const owns = group('Relationship type OWNS');
      await owns.getByRole('group', { name: 'From' }).getByRole('checkbox', { name: 'Customer' }).check();
      await owns.getByRole('group', { name: 'To' }).getByRole('checkbox', { name: 'Product' }).check();
      // What was typed survives a reload.
      await page.reload();
      await page.locator('summary', { hasText: 'OWNS' }).waitFor();
      await button('Save draft').click();
      await page.getByText('A draft, saved just now by').waitFor();
      await shot(page, 'ontology');
      expect(await violations(page)).toEqual([]);
      expect(await stateOf()).toMatchObject({ version: 0, ontology: null });
      await button('Put into force…').click();
      await button('Put version 1 into force').click();
      await page.getByText('Version 1 is in force').waitFor();
      await page.locator('summary', { hasText: 'Product' }).click();
      await name('Entity type Product').fill('1 wrong');
      await button('Save draft').click();
      await page.getByRole('alert').getByText('entity_types').waitFor();
      await button('Discard changes').click();
      await page.getByText('Product', { exact: true }).first().waitFor();
    },
    { width: 1440, height: 900 },
  );
  expect(await stateOf()).toMatchObject({
    version: 1,
    draft: null,
    ontology: {
      entity_types: {
        Customer: { properties: { ssn: { type: 'string', personal: true, single_valued: true } } },
        Product: { properties: {} },
      },
      relationship_types: { OWNS: { from: ['Customer'], to: ['Product'] } },
    },
  });
});

test('a viewer reads the ontology on a phone, and is not offered to change it', async () => {
  verifies('console.ontology', 'console.accessible');
  const person = await createPerson(deps, { role: 'VIEWER' });
  const gateway = bearerClient(person.workspace.apiKey);
  await gateway.post('/v1/ontology', { define: { entity_types: { Customer: {} } } });
  expect((await gateway.post('/v1/ontology', { commit: true })).status).toBe(200);
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/ontology'));
      await page.getByText('Version 1 is in force').waitFor();
      await page.locator('summary', { hasText: 'Customer' }).click();
      expect(await page.getByRole('textbox', { name: 'Name', exact: true }).isDisabled()).toBe(true);
      expect(await page.getByRole('button', { name: 'Save draft' }).count()).toBe(0);
      await shot(page, 'ontology-phone');
      expect(await violations(page)).toEqual([]);
    },
    { width: 375, height: 812, dark: true },
  );
});
