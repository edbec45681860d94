import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, failRequests, signIn, violations, withPage } from './chromium.js';
import { asPage } from './console-browser.js';

const deps = useDeps();

const twoAgents = {
  name: 'Draft and check',
  description: 'Writes <b>letters</b>',
  agents: [
    {
      _id: 'writer',
      title: 'Writer',
      next_agent: 'checker',
      prompt: { template: 'Draft {{ goal }} for {{ reader }}', variables: ['reader'] },
    },
    { _id: 'checker', title: 'Checker', prompt: { template: 'Check {{ previous }}' } },
  ],
};

async function agentflowOf({ workspace }: Person, body: object = twoAgents): Promise<string> {
  const made = await workspace.api.post('/agentflow', body);
  expect(made).toMatchObject({ status: 201 });
  return made.body._id as string;
}

test('agentflows are found by text, promoted, compared, and tried with inputs', async () => {
  verifies('console.agentflows');
  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/agentflows'));
    await page.getByText('This project has no agentflows yet.').waitFor();
    await page.getByRole('region', { name: 'Command' }).waitFor();
    const id = await agentflowOf(person);
    await agentflowOf(person, { name: 'Another' });
    await page.reload();
    await page.getByText('2 agentflows').waitFor();
    await page.getByRole('searchbox').fill('LETTERS');
    await page.getByText('1 agentflow', { exact: true }).waitFor();
    await page.waitForURL(/text=LETTERS/);
    await shot(page, 'agentflows');
    await page.getByRole('link', { name: 'Draft and check', exact: true }).click();
    await page.getByRole('button', { name: 'Promote…' }).click();
    await page.getByRole('button', { name: 'Promote agentflow' }).click();
    await page.getByText('Promoted as version 1.').waitFor();
    await page.getByText(', promoted as version 1').waitFor();
    const changed = await person.workspace.api.patch(`/agentflow/${id}`, { description: 'Writes short letters' });
    expect(changed.status).toBe(200);
    await page.reload();
    await page.getByRole('button', { name: 'Versions' }).click();
    const difference = page.getByRole('region', { name: 'Difference' });
    await difference.waitFor();
    expect(await difference.locator('del').allTextContents()).toEqual([
      '-   "description": "Writes <b>letters</b>",\n',
    ]);
    expect(await difference.locator('ins').allTextContents()).toEqual(['+   "description": "Writes short letters",\n']);
    await shot(page, 'agentflow-versions');
    expect(await violations(page)).toEqual([]);
    await page.getByText('in production').first().waitFor();
    const released = page.getByRole('table', { name: 'Who released what' });
    await released.getByText('Version 1').waitFor();
    await released.getByText('Not needed').waitFor();
    await page.getByRole('button', { name: 'Load version 1 into the editor' }).click();
    await page.getByText('Version 1 is loaded into the form. It takes effect when you save it.').waitFor();
    await page.getByText('You have unsaved changes to this agentflow.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Description', exact: true }).inputValue()).toBe(
      'Writes <b>letters</b>',
    );
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('You have unsaved changes to this agentflow.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Test run…' }).click();
    const inputs = page.getByRole('textbox', { name: 'Input variables' });
    expect(JSON.parse(await inputs.inputValue())).toEqual({ reader: '' });
    await page.getByRole('button', { name: 'Start test run' }).click();
    await page.getByText('Goal must have at least 1 character').waitFor();
    await page.getByRole('textbox', { name: 'Goal', exact: true }).fill('a letter');
    await inputs.fill('{ "reader": "Ada" }');
    await page.getByRole('button', { name: 'Start test run' }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByRole('heading', { level: 1, name: 'a letter' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'completed' }).waitFor();
  });
});

test('an agentflow is edited as form, graph and JSON; problems are at their fields, and nothing typed is lost', async () => {
  verifies('console.agentflows.edit', 'console.accessible');
  const person = await createPerson(deps);
  const id = await agentflowOf(person);
  await person.workspace.api.post('/skill', {
    name: 'Register',
    actions: [{ name: 'Look up', endpoint: 'https://example.com/' }],
  });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    const field = (name: string) => page.getByRole('textbox', { name });
    const save = () => page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('list', { name: 'Agents' }).getByRole('button', { name: 'Checker' }).click();
    await field('Prompt').fill('Check {{ previous');
    await page.getByLabel('Next agent').selectOption('Writer');
    await field('Temperature').fill('9');
    await field('Maximum model turns').fill('101');
    await field('Maximum total tokens').fill('many');
    await field('Agent type').fill('');
    await field('Variables').fill(`goal\n${'v'.repeat(201)}`);
    await save();
    await page.getByRole('alert').getByText('Agent type must').waitFor();
    await page.getByRole('alert').getByText('Variables must').waitFor();
    await field('Agent type').fill('reviewer');
    await field('Variables').fill('goal\n\nregion\n');
    await page.getByText('Temperature must be a number from 0 to 2').waitFor();
    await page.getByRole('alert').getByText('Maximum model turns must be').waitFor();
    await page.getByRole('alert').getByText('Maximum total tokens must be').waitFor();
    await field('Maximum model turns').fill('4');
    await field('Maximum total tokens').fill('');
    await field('Temperature').fill('0.5');
    await save();
    await page.getByText('Prompt is not a valid Liquid template').waitFor();
    await page.getByRole('alert').getByText('forms a cycle').waitFor();
    await page.getByRole('button', { name: 'Checker is not valid' }).waitFor();
    await shot(page, 'agentflow-form');
    await page.reload();
    await page.getByRole('list', { name: 'Agents' }).getByRole('button', { name: 'Checker' }).click();
    expect(await field('Prompt').inputValue()).toBe('Check {{ previous');
    await field('Prompt').fill('Check {{ previous }} well');
    const graph = page.getByRole('group', { name: 'Graph of the agents' });
    await graph.getByRole('button', { name: 'Checker' }).click();
    await page.getByLabel('Next agent').selectOption('');
    await eventually(async () => expect(await graph.locator('.react-flow__edge').count()).toBe(1));
    await page.getByLabel('Add skill').selectOption('Register');
    await page.getByText('Look up', { exact: true }).waitFor();
    await shot(page, 'agentflow-graph');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = await field('Agentflow as JSON').inputValue();
    await field('Agentflow as JSON').fill(json.slice(0, -1));
    await page.getByText('The text is not valid JSON').waitFor();
    await field('Agentflow as JSON').fill(json.replace('"failover_goal": null', '"failover_goal": "Say sorry"'));
    await page.context().clearCookies();
    await save();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Saved.').waitFor();
  });
  const { body } = await person.workspace.api.get(`/agentflow/${id}`);
  expect(body).toMatchObject({
    failover_goal: 'Say sorry',
    agents: [
      { next_agent: 'checker' },
      {
        next_agent: null,
        agent_type: 'reviewer',
        prompt: { template: 'Check {{ previous }} well', variables: ['goal', 'region'] },
        llm: { temperature: 0.5 },
        skills: [{ name: 'Register', actions: [{ name: 'Look up' }] }],
      },
    ],
  });
});

test('an agentflow is made in a narrow window', async () => {
  verifies('console.agentflows.edit');
  const person = await createPerson(deps);
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/agentflows/new'));
      await page.getByRole('button', { name: 'Create agentflow' }).click();
      await page.getByText('Name must have at least 1 character').waitFor();
      const name = page.getByRole('textbox', { name: 'Name' });
      expect(await name.evaluate((element: any) => element === element.ownerDocument.activeElement)).toBe(true);
      await name.fill('Letters');
      await page.getByText('Name must have at least 1 character').waitFor({ state: 'detached' });
      await page.getByRole('textbox', { name: 'Title' }).fill('Writer');
      await page.getByRole('button', { name: 'Add agent' }).click();
      await page.getByRole('textbox', { name: 'Title' }).fill('Checker');
      await page.getByRole('button', { name: 'Create agentflow' }).click();
      await page.getByRole('heading', { level: 1, name: 'Letters' }).waitFor();
      const { body } = await person.workspace.api.get('/agentflow');
      expect(body.data).toMatchObject([
        { agents: [{ next_agent: 'agent-2' }, { title: 'Checker', next_agent: null }] },
      ]);
    },
    { width: 360 },
  );
});

test('unsaved changes outlive their tab, and do not overwrite what somebody else stored', async () => {
  verifies('console.agentflows.drafts', 'console.accessible');
  const person = await createPerson(deps);
  const other = await createPerson(deps, { role: 'EDITOR', workspace: person.workspace });
  const id = await agentflowOf(person);
  const change = async (fields: object) => {
    const api = (await asPage(other)).client({ 'x-service-workspace': `ws_${person.workspace.projectID}` });
    expect(await api.patch(`/agentflow/${id}`, fields)).toMatchObject({ status: 200 });
  };
  const stored = async () => (await person.workspace.api.get(`/agentflow/${id}`)).body;
  await withPage(async (first) => {
    await signIn(first, person, consoleUrl(person, `/agentflows/${id}`));
    const description = (page: Page) => page.getByRole('textbox', { name: 'Description', exact: true });
    await description(first).fill('mine');
    await first.getByText('You have unsaved changes').waitFor();
    const page = await first.context().newPage();
    await first.close();
    await page.goto(consoleUrl(person, `/agentflows/${id}`));
    await page.getByText('You have unsaved changes to this agentflow. This browser keeps them').waitFor();
    expect(await description(page).inputValue()).toBe('mine');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    const box = page.getByRole('region', { name: 'Another version was stored' });
    // The change of the other person arrives while this one is being saved.
    let isFirst = true;
    await page.route(/\/agentflow\//, async (route) => {
      if (isFirst && route.request().method() === 'PATCH') {
        isFirst = false;
        await change({ description: 'theirs', role: 'also theirs' });
      }
      return route.continue();
    });
    await save.click();
    await box.getByRole('alert').getByText(other.email.toLowerCase()).waitFor();
    await box.getByText('Both of you changed: description.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    expect((await stored()).description).toBe('theirs');
    await box.getByRole('button', { name: 'Compare' }).click();
    const difference = box.getByRole('region', { name: 'Difference' });
    expect(await difference.locator('del').allTextContents()).toContain('-   "description": "theirs",\n');
    await shot(page, 'agentflow-other-version');
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await box.getByRole('button', { name: 'Keep my changes' }).click();
    await box.waitFor({ state: 'detached' });
    await save.click();
    await page.getByText('Saved.').waitFor();
    expect(await stored()).toMatchObject({ description: 'mine', role: 'also theirs', updated_by: person.userId });
    await page.getByText(/Last changed .* by you/).waitFor();
    await description(page).fill('mine again');
    await change({ description: 'theirs again' });
    await box.getByRole('button', { name: 'Take the stored version' }).click();
    await page.getByText('You have unsaved changes').waitFor({ state: 'detached' });
    expect(await description(page).inputValue()).toBe('theirs again');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Draft and check' }).waitFor();
    expect(await description(page).inputValue()).toBe('theirs again');
    // What one person has not saved is shown to nobody else in this browser.
    await description(page).fill('private');
    await page.context().clearCookies();
    await page.goto(consoleUrl(''));
    await signIn(page, other, consoleUrl(other, `/agentflows/${id}`));
    expect(await description(page).inputValue()).toBe('theirs again');
  });
});

test('a member may not change agentflows and is refused, and the page reports a failing API', async () => {
  verifies('console.agentflows', 'console.sign-in');
  const person = await createPerson(deps);
  const id = await agentflowOf(person);
  const member = await createPerson(deps, { role: 'MEMBER', workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, member, consoleUrl(member, `/agentflows/${id}`));
    await page.getByRole('link', { name: 'Agentflows' }).first().waitFor();
    await page.goto(consoleUrl(member, '/agentflows/new'));
    await page.getByText('It requires the role EDITOR').waitFor();
    const api = (await asPage(member)).client();
    for (const [method, path] of [
      ['get', `/agentflow/${id}/versions`],
      ['get', `/agentflow/${id}/versions/1`],
      ['patch', `/agentflow/${id}`],
      ['post', `/agentflow/${id}/promote`],
    ] as const)
      expect([path, (await api[method](path, {})).status]).toEqual([path, 403]);
  });
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, `/agentflows/${id}`));
    await page.getByRole('textbox', { name: 'Description', exact: true }).fill('kept');
    const recover = await failRequests(page, /:\d+\/agentflow/, 500, 'the store failed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The store failed').waitFor();
    expect(await page.getByRole('textbox', { name: 'Description', exact: true }).inputValue()).toBe('kept');
    await page.goto(consoleUrl(person, '/agentflows'));
    await page.getByRole('alert').getByText('The store failed').waitFor();
    await recover();
    complaints.splice(0);
  });
});
