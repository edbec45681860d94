import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';
import { asPage } from './console-browser.js';

const deps = useDeps();

const all = { policy_id: 'all', effect: 'permit' };
const noModels = { policy_id: 'no-models', effect: 'forbid', tools: ['save-model'], when: 'context.hour >= 0' };

test('rules are edited with the problem at its line, tried on recorded calls, stored and evaluated', async () => {
  verifies('console.policies');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  await gateway.put('/v1/policies', { policies: [all] });
  expect((await gateway.post('/v1/save-model', { model: 'permitted' })).status).toBe(200);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/policies'));
    await page.getByText('Version 1, saved by').waitFor();
    const rules = page.getByRole('textbox', { name: 'Rules', exact: true });
    const tryIt = () => page.getByRole('button', { name: 'Simulate on recorded calls' }).click();
    await rules.fill(`[\n  ${JSON.stringify(all)},\n  {"policy_id": "no-models",\n   "effect": "never"}\n]`);
    await tryIt();
    await page.getByRole('alert').getByText('must be').waitFor();
    await page.getByRole('button', { name: 'Line 4' }).click();
    await shot(page, 'policies-problem');
    // The value is selected, so that typing replaces it.
    await page.keyboard.type('"sometimes"');
    await rules.getByText('"effect": "sometimes"}').waitFor();
    await page.reload();
    await rules.getByText('"sometimes"').waitFor();
    await rules.fill('[{"policy_id": "all"');
    await tryIt();
    await page.getByRole('alert').getByText('The text is not valid JSON').waitFor();
    await rules.fill(JSON.stringify([all, { ...noModels, when: 'context.nothing' }], null, 1));
    await tryIt();
    await page.getByRole('alert').getByText('No-models:').waitFor();
    await page.getByRole('button', { name: /^Line 6$/ }).waitFor();
    await rules.fill(JSON.stringify([all, noModels], null, 1));
    await tryIt();
    await page.getByText('1 from permit to forbid').waitFor();
    await page.getByText('could be tried: 1 would be decided differently').waitFor();
    await page.getByRole('list', { name: 'Calls with another decision' }).getByText('no-models').waitFor();
    await shot(page, 'policies-trial');
    await page.getByRole('button', { name: 'Save…' }).click();
    expect((await gateway.get('/v1/policies')).body.version).toBe(1);
    await page.getByLabel('Reason (optional)').fill('Models are chosen by hand');
    await page.getByRole('button', { name: 'Save new version' }).click();
    await page.getByText('Version 2 is in force.').waitFor();
    await page.getByRole('table', { name: 'Versions' }).getByText('Models are chosen by hand').waitFor();
    await page.getByRole('list', { name: 'Rules in force' }).getByText('no-models').waitFor();
    await page.getByRole('button', { name: 'Version 1', exact: true }).click();
    await page.getByRole('region', { name: 'Rules of version 1' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Version 2', exact: true }).click();
    await page.getByRole('region', { name: 'Difference' }).getByText('+     "policy_id": "no-models"').waitFor();
    await page.getByLabel('Compare with').selectOption('No rules');
    await page.getByRole('region', { name: 'Difference' }).getByText('+     "policy_id": "all"').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Operation or tool').fill('save-model');
    await page.getByRole('button', { name: 'Evaluate' }).click();
    await page.getByRole('status').filter({ hasText: 'no-models' }).waitFor();
    await page.getByLabel('Operation or tool').fill('no-such-operation');
    await page.getByRole('button', { name: 'Evaluate' }).click();
    await page.getByRole('alert').getByText('Operation or tool must be').waitFor();
    await shot(page, 'policies');
  });
  expect((await gateway.post('/v1/save-model', { model: 'refused' })).status).toBe(403);
});

test('a version that somebody else stored meanwhile is shown, and nothing typed is lost', async () => {
  verifies('console.policies');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  await gateway.put('/v1/policies', { policies: [all] });
  const mine = JSON.stringify([all, noModels], null, 1);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/policies'));
    const rules = page.getByRole('textbox', { name: 'Rules', exact: true });
    await rules.fill(mine);
    await page.getByRole('button', { name: 'Save…' }).click();
    await gateway.put('/v1/policies', { policies: [all, { ...noModels, policy_id: 'of-somebody-else' }] });
    await page.getByRole('button', { name: 'Save new version' }).click();
    await page.getByText('The policies are at version 2: read them again').waitFor();
    await page.getByText('You started with version 1.').waitFor();
    expect((await rules.locator('.cm-line').allInnerTexts()).join('\n')).toBe(mine);
    await page.getByRole('button', { name: 'Show version 2' }).click();
    await page.getByRole('region', { name: 'Rules of version 2' }).getByText('of-somebody-else').waitFor();
    await page.keyboard.press('Escape');
    await shot(page, 'policies-conflict');
    await page.getByRole('button', { name: 'Replace version 2 instead' }).click();
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('button', { name: 'Save new version' }).click();
    await page.getByText('Version 3 is in force.').waitFor();
  });
  expect((await gateway.get('/v1/policies')).body.policies).toMatchObject([all, noModels]);
  const member = await createPerson(deps, { role: 'MEMBER', workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, member, consoleUrl(member, '/policies'));
    await page.getByText('It requires a role that reads the project').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Policies' }).count()).toBe(0);
  });
  expect((await (await asPage(member)).client().put('/v1/policies', { policies: [] })).status).toBe(403);
});

/** The chosen names that are wider than their control. */
const cutChoices = (within: Locator): Promise<string[]> =>
  within.locator('select').evaluateAll((controls: any[]) => {
    const { document, getComputedStyle } = globalThis as any;
    const context = document.createElement('canvas').getContext('2d');
    return controls.flatMap((control) => {
      const name = control.selectedOptions[0].textContent;
      context.font = getComputedStyle(control).font;
      // The arrow and the padding take about 40 pixels.
      return context.measureText(name).width > control.clientWidth - 40 ? [name] : [];
    });
  });

test('a rule is built from who, what, where and when, tried on recorded and on written calls, and stored with its reason', async () => {
  verifies('console.policies.builder');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  await gateway.put('/v1/policies', { policies: [all] });
  await gateway.post('/v1/save-model', { model: 'recorded' });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/policies'));
    await page.getByRole('button', { name: 'Add rule…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a rule' });
    await dialog.getByLabel('Id', { exact: true }).fill('outside');
    await dialog.getByLabel('Limit to an operation').selectOption('Send a mail');
    await dialog.getByRole('button', { name: 'Everybody. Limit it to some…' }).click();
    const caller = dialog.getByRole('group', { name: 'Kind of caller' });
    await caller.getByLabel('Value').selectOption('A run');
    await dialog.getByRole('button', { name: 'Always. Add a condition…' }).click();
    const row = dialog.getByRole('group', { name: 'When' }).getByLabel('Fact');
    await row.selectOption('Recipient domains');
    const domains = dialog.getByRole('group', { name: 'Recipient domains' });
    await domains.getByLabel('Comparison').selectOption('contains others than');
    await domains.getByLabel('Values, separated by commas').fill('nordic.example, "x"');
    const cedar = dialog.getByRole('textbox', { name: /^Who and when as a condition in Cedar/ });
    const text = String.raw`principal.kind == "execution" && !["nordic.example", "\"x\""].containsAll(context.input.recipient_domains)`;
    await cedar.getByText(text).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await cutChoices(dialog)).toEqual([]);
    await shot(page, 'rule-builder');
    await dialog.getByText('Try on a call that you write').click();
    const evaluate = async (domain: string) => {
      await dialog.getByLabel('Operation or tool').fill('act.mail');
      await dialog.getByLabel('recipient_domains').fill(domain);
      await dialog.getByLabel('Caller, if it is not you').fill('{"kind": "execution"}');
      await dialog.getByRole('button', { name: 'Evaluate' }).click();
    };
    await evaluate('nordic.example');
    await dialog.getByRole('status').getByText('Permit').waitFor();
    await evaluate('elsewhere.example');
    await dialog.getByRole('status').getByText('Require approval').waitFor();
    await dialog.getByLabel('Reason (optional)').fill('Mails went to competitors');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('list', { name: 'Rules in force' }).getByText('outside').waitFor();
    await page.getByRole('table', { name: 'Versions' }).getByText('Mails went to competitors').waitFor();

    // The stored text becomes rows again.
    await page.getByRole('button', { name: 'Edit the rule outside…' }).click();
    expect(await page.getByLabel('Values, separated by commas').inputValue()).toBe('nordic.example, "x"');
    await page.getByLabel('Effect').selectOption('Forbid');
    const edited = page.getByRole('textbox', { name: /^Who and when/ });
    await edited.fill('');
    await page.keyboard.type('principal.kind == ');
    await page.keyboard.press('Enter');
    await page.keyboard.type('"execution" &&& true');
    await page.getByText('The condition is more than a list of comparisons').first().waitFor();
    await page.getByRole('button', { name: 'Save rule' }).click();
    await page.getByRole('button', { name: 'Line 2' }).click();
    await shot(page, 'rule-problem');
    // The form shows no condition that it would write in another way.
    const onlyText = page.getByText('The condition is more than a list of comparisons').first();
    for (const [list, isShown] of [
      ['["nordic.example"]', true],
      ['["nordic.example, Inc"]', false],
      ['["nordic.example","other.example"]', true],
      [String.raw`["nordic\u{2e}example"]`, false],
    ] as const) {
      await edited.fill('');
      await page.keyboard.insertText(`${list}.containsAll(context.input.recipient_domains)`);
      await onlyText.waitFor({ state: isShown ? 'detached' : 'visible' });
    }
    // Completion knows the facts of the operation.
    await edited.fill('');
    await edited.pressSequentially('recipient_d');
    await page
      .getByRole('option', { name: /context\.input\.recipient_domains.*Set/ })
      .first()
      .click();
    await page.keyboard.type('.isEmpty()');
    await page.getByRole('button', { name: 'Try on recorded calls' }).click();
    await page.getByRole('region', { name: 'Result on recorded calls' }).waitFor();
    await page.getByRole('button', { name: 'Save rule' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
  expect((await gateway.get('/v1/policies')).body.policies).toMatchObject([
    all,
    { policy_id: 'outside', effect: 'forbid', tools: ['act.mail'], when: 'context.input.recipient_domains.isEmpty()' },
  ]);
});
