import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { chooseTemplate } from './choose-template.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

async function connector({ api, projectID }: Workspace, name: string): Promise<string> {
  const config = { base_url: 'https://claims.example' };
  const made = await api.post(`/actions/restful/config?projectID=${projectID}`, { name, config });
  expect(made).toMatchObject({ status: 200 });
  return made.body._id;
}

test('a template that needs a connector gets one of the project', async () => {
  verifies('platform.marketplace.slots');
  const publisher = await createWorkspace(deps);
  const name = `Look up claims ${publisher.projectID}`;
  const actions = [{ name: 'Look', method: 'GET', endpoint: '/claims' }];
  const skills = [{ name: 'Claims', connector_id: await connector(publisher, 'Register of Grace'), actions }];
  const made = await publisher.api.post('/agentflow', { name, agents: [{ title: 'Reader', skills }] });
  expect(await publisher.api.post('/marketplace', { agentflow_id: made.body._id })).toMatchObject({ status: 201 });

  const person = await createPerson(deps);
  const ours = await connector(person.workspace, 'Our register');
  await withPage(async (page) => {
    await signIn(page, person);
    await page.goto(consoleUrl(person, '/agentflows'));
    await page.getByRole('button', { name: 'Add a template…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a template' });
    await chooseTemplate(dialog, name);
    await dialog.getByRole('combobox', { name: 'HTTP API' }).selectOption({ label: 'Our register · HTTP API' });
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add to this project' }).click();
    await page.getByRole('heading', { name }).waitFor();
  });
  const { body } = await person.workspace.api.get('/agentflow');
  expect(body.data).toMatchObject([{ name, agents: [{ skills: [{ connector_id: ours }] }] }]);
});

test('a template is found by its words, and its test run begins with the examples of its inputs', async () => {
  verifies('templates.found', 'templates.examples');
  const publisher = await createWorkspace(deps);
  const word = `word${publisher.projectID}`;
  const made = await publisher.api.post('/agentflow', {
    name: 'Greet a guest',
    description: `Greets in one sentence. It knows the ${word}. It needs nothing.`,
    input_schema: {
      type: 'object',
      properties: {
        guest: { type: 'string', examples: ['Ada', 'Bob'] },
        nights: { type: 'integer', default: 2, examples: [3] },
        wishes: { type: 'array' },
      },
    },
    agents: [{ title: 'Host', prompt: { template: 'Greet {{ guest }}' } }],
  });
  expect(await publisher.api.post('/marketplace', { agentflow_id: made.body._id })).toMatchObject({ status: 201 });

  const person = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, person);
    await page.goto(consoleUrl(person, '/agentflows'));
    await page.getByRole('button', { name: 'Add a template…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a template' });
    const find = dialog.getByRole('searchbox', { name: 'Find a template' });
    const add = dialog.getByRole('button', { name: 'Add to this project' });
    await find.fill(`${word} unknown`);
    await dialog.getByText('No template has these words.').waitFor();
    expect(await add.count()).toBe(0);
    await find.fill(`guest ${word.toUpperCase()}`);
    const found = dialog.getByRole('radio');
    expect(await found.count()).toBe(1);
    expect(await found.isChecked()).toBe(true);
    await dialog.getByText('Greets in one sentence.', { exact: true }).waitFor();
    await dialog.getByText('It needs nothing.').waitFor();
    expect(await violations(page)).toEqual([]);
    await add.click();
    await page.getByRole('heading', { name: 'Greet a guest' }).waitFor();
    await page.getByRole('button', { name: 'Test run…' }).click();
    const inputs = await page.getByRole('textbox', { name: 'Input variables' }).inputValue();
    expect(JSON.parse(inputs)).toEqual({ guest: 'Ada', nights: 2, wishes: [] });
  });
});
