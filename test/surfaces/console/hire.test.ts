import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
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
    await dialog.getByRole('combobox', { name: 'Template' }).selectOption({ label: name });
    await dialog.getByRole('combobox', { name: 'HTTP API' }).selectOption({ label: 'Our register · HTTP API' });
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add to this project' }).click();
    await page.getByRole('heading', { name }).waitFor();
  });
  const { body } = await person.workspace.api.get('/agentflow');
  expect(body.data).toMatchObject([{ name, agents: [{ skills: [{ connector_id: ours }] }] }]);
});
