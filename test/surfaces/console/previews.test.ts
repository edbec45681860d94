import { beforeAll, expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { tabTo } from '../../support/browser.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { agentThatCalls, flowThatCalls } from '../../support/flows.js';
import { useDeps } from '../../support/fixture.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, screenshots, shot, signIn, withPage } from './chromium.js';
import { signedInConsole } from './console-browser.js';

const deps = useDeps();
const sink = await useHttpSink();
beforeAll(() => console.log(`screenshots in ${screenshots()}`));

const field = { field_id: 'subject', type: 'string', required: true };

/** An execution whose agents wait for a person before they call the sink. */
async function waitingExecution({ workspace }: Person, ids = ['agent_1']) {
  const path = `/${workspace.projectID}`;
  const agents = ids.map((id, at) => {
    const agent = agentThatCalls([`${sink.url}${path}/${id}`], id, ids[at + 1] ?? null);
    const skills = agent.skills.map((skill) => ({
      ...skill,
      actions: skill.actions.map((action) => ({ ...action, input_schema: { fields: [field] } })),
    }));
    return { ...agent, skills, is_preview_mode_enabled: true };
  });
  const id = await startExecution(
    workspace,
    { name: 'Asks', agents },
    { goal: 'Send the letter', input_variables: { subject: 'Dear <b>Ada</b>' } },
  );
  await waitsAt(workspace, id, 'agent_1');
  return { id, path };
}

const waitsAt = (workspace: Person['workspace'], id: string, agent_id: string) =>
  untilExecution(workspace, id, {
    status: 'running',
    execution_context: { waiting_for: { kind: 'preview', agent_id } },
  });

test('the planned action of an agent is shown exactly, approved by keyboard and then executed', async () => {
  verifies('console.executions', 'console.accessible', 'agent.preview.decided');
  const person = await createPerson(deps);
  const { id, path } = await waitingExecution(person);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/executions/${id}`));
    const shown = (await page.locator('[data-part=previews]').textContent()) ?? '';
    for (const text of ['Call action_1', 'POST', `${sink.url}${path}/agent_1`, '"subject": "Dear <b>Ada</b>"'])
      expect(shown).toContain(text);
    await shot(page, 'preview');
    expect(sink.seen(path)).toEqual([]);
    await tabTo(page, 'Reason of a rejection (optional)');
    await tabTo(page, 'Approve what Agent agent_1 proposes');
    await page.keyboard.press('Enter');
    await page.getByText('Your approval is recorded').waitFor();
    await page.locator('[data-part=state]', { hasText: 'completed' }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  });
  expect(sink.seen(path).map(({ body }) => JSON.parse(body))).toEqual([{ subject: 'Dear <b>Ada</b>' }]);
  const { previews } = await untilExecution(person.workspace, id, 'completed');
  expect(previews.agent_1).toMatchObject({ status: 'approved', decided_by: person.userId });
});

test('a rejection ends the execution with its reason, and nothing is called', async () => {
  verifies('console.executions', 'agent.preview.decided');
  const person = await createPerson(deps);
  const { id, path } = await waitingExecution(person);
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/executions/${id}`));
      await page.getByLabel('Reason of a rejection (optional)').fill('not to Ada');
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.locator('[data-part=outcome]', { hasText: 'not to Ada' }).waitFor();
      await page.locator('[data-part=state]', { hasText: 'failed' }).waitFor();
    },
    { withoutScript: true, width: 360 },
  );
  expect(sink.seen(path)).toEqual([]);
});

test('a waiting output is shown unchanged', async () => {
  verifies('console.executions');
  const person = await createPerson(deps);
  const flow = flowThatCalls([]);
  const id = await startExecution(person.workspace, {
    ...flow,
    agents: flow.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true })),
  });
  const { previews } = await waitsAt(person.workspace, id, 'agent_1');
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/executions/${id}`));
      expect(await page.getByRole('region', { name: 'What Agent agent_1 proposes' }).textContent()).toBe(
        previews.agent_1.proposed.output,
      );
      await shot(page, 'preview-output');
    },
    { width: 360 },
  );
});

test('a decision applies only to the content of its form: an outdated or repeated form decides nothing', async () => {
  verifies('console.executions', 'agent.preview.decided');
  const person = await createPerson(deps);
  const { id, path } = await waitingExecution(person, ['agent_1', 'agent_2']);
  const client = await signedInConsole(person);
  const address = `${client.base}/executions/${id}`;
  const send = (fields: Record<string, string>) =>
    client.send(`${address}/preview`, { decision: 'approve', ...fields });
  await client.open(address);
  const outdated: Record<string, string>[] = [
    {},
    { agent_id: 'agent_1' },
    { agent_id: 'agent_1', preview_id: 'agent_1/turn-2/preview' },
    { agent_id: 'agent_2', preview_id: 'agent_2/preview' },
  ];
  for (const fields of outdated) {
    const refused = await send(fields);
    expect([refused.status, refused.html.includes('does not wait for this decision any more')]).toEqual([409, true]);
  }
  const first = { agent_id: 'agent_1', preview_id: 'agent_1/preview' };
  expect((await client.send(`${address}/preview`, { ...first, decision: 'perhaps' })).html).toContain(
    'not sent by one of its buttons',
  );
  expect(sink.seen(path)).toEqual([]);
  expect(await send(first)).toMatchObject({ status: 303, location: `${address}?done=approve` });
  await waitsAt(person.workspace, id, 'agent_2');
  expect(await send(first)).toMatchObject({ status: 409 });
  expect(sink.seen(path).map((request) => request.path)).toEqual([`${path}/agent_1`]);
});

test('a person without the right to decide sees no decision, and a forged one is refused', async () => {
  verifies('console.sign-in');
  const person = await createPerson(deps);
  const { id, path } = await waitingExecution(person);
  const member = await signedInConsole(await createPerson(deps, { role: 'MEMBER', workspace: person.workspace }));
  const fields = { decision: 'approve', agent_id: 'agent_1', preview_id: 'agent_1/preview' };
  expect((await member.send(`${member.base}/executions/${id}/preview`, fields)).status).toBe(403);
  const client = await signedInConsole(person);
  await client.open(`${client.base}/executions/${id}`);
  expect((await client.send(`${client.base}/executions/${id}/preview`, fields, 'x'.repeat(43))).status).toBe(403);
  expect((await person.workspace.api.get(`/execute_flow/${id}`)).body.previews.agent_1.status).toBe('waiting');
  expect(sink.seen(path)).toEqual([]);
});
