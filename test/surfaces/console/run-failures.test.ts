import { expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import { shot } from '../../support/browser.js';
import { moveExecution, startExecution, untilExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { useDeps } from '../../support/fixture.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { asPage } from './console-browser.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();

const oneStep = (step: object) => ({
  ...{ name: 'Night shift', agents: [], initialAgent: 'one' },
  steps: [{ _id: 'one', title: 'The only step', ...step }],
});
const started = ({ workspace }: Person, flow: object, request: object = {}) => startExecution(workspace, flow, request);
const untilWaiting = ({ workspace }: Person, id: string, kind: string) =>
  untilExecution(workspace, id, { execution_context: { waiting_for: { kind } } });

interface Cause {
  name: string;
  /** Makes a run fail. */
  fail(person: Person): Promise<string>;
  /** What its page says first. */
  says: string;
  /** What the person can do. */
  help: RegExp;
}

const causes: readonly Cause[] = [
  {
    name: 'a service refuses',
    fail: (person) => started(person, flowThatCalls([`${sink.url}/refuses`])),
    says: 'A service refused a call: the action "Call action_1" was answered with status 403: {"error":"no refunds"}',
    help: /see what was sent and answered/,
  },
  {
    name: 'code has an error',
    fail: (person) => started(person, oneStep({ type: 'code', source: 'return inputs.a.b.c;', inputs: {} })),
    says: 'A value or an expression does not fit: the code failed: line 1',
    help: /agentflow as it is saved now/,
  },
  {
    name: 'nobody answers before the deadline',
    fail: (person) => {
      const form = { type: 'object', properties: { ok: { type: 'boolean' } } };
      return started(person, oneStep({ type: 'ask', question: 'Ok?', form, deadline_seconds: 1, on_timeout: 'fail' }));
    },
    says: 'Something did not happen in time: nobody answered "The only step" in time',
    help: /see what it waited for/,
  },
  {
    name: 'a limit is reached',
    fail: (person) =>
      started(person, {
        ...oneStep({ type: 'loop', first: 'two', until: 'false', max_rounds: 2 }),
        steps: [
          { _id: 'one', title: 'The only step', type: 'loop', first: 'two', until: 'false', max_rounds: 2 },
          { _id: 'two', type: 'set', values: { n: '1' } },
        ],
      }),
    says: 'A limit of the agent or of the flow was reached: ',
    help: /Raise the maximum/,
  },
  {
    name: 'a person rejects a preview',
    fail: async (person) => {
      const [agent] = flowThatCalls([`${sink.url}/never`]).agents;
      const id = await started(person, { name: 'Preview', agents: [{ ...agent, is_preview_mode_enabled: true }] });
      await untilWaiting(person, id, 'preview');
      const api = (await asPage(person)).client({ 'x-service-workspace': `ws_${person.workspace.projectID}` });
      const item = (await api.get('/inbox')).body.data.find((each: any) => each.execution_id === id);
      const reply = { decision: 'reject', reason: 'Not this <b>customer</b>' };
      expect(await api.post(`/inbox/${encodeURIComponent(item._id)}/reply`, reply)).toMatchObject({ status: 200 });
      return id;
    },
    says: 'A person rejected a preview, Person',
    help: /The reason is what they wrote/,
  },
  {
    name: 'an operator ends the workflow',
    fail: async (person) => {
      const id = await started(person, oneStep({ type: 'wait', seconds: 86_400 }));
      await untilExecution(person.workspace, id, 'running');
      await deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).terminate('too expensive');
      return id;
    },
    says: 'An operator ended the run in the workflow service: the run was terminated in the workflow service: too expensive',
    help: /Rerun it from any agent or step/,
  },
];

test('the page of a failed run says first what went wrong and what to do, in words', async () => {
  verifies('console.run', 'console.words');
  sink.answer('/refuses', (_request, res) =>
    res.writeHead(403, { 'content-type': 'application/json' }).end('{"error":"no refunds"}'),
  );
  const person = await createPerson(deps);
  const runs = await Promise.all(
    causes.map(async (cause) => {
      const id = await cause.fail(person);
      await untilExecution(person.workspace, id, 'failed');
      return { ...cause, id };
    }),
  );
  await withPage(
    async (page) => {
      await signIn(page, person);
      for (const { name, id, says, help } of runs) {
        await page.goto(consoleUrl(person, `/runs/${id}`));
        const reason = page.getByRole('region', { name: 'Failure reason' });
        await reason.getByText(help).waitFor();
        await reason.locator('p').first().filter({ hasText: says }).waitFor();
        // On a phone, it is on the screen before anybody scrolls.
        expect((await reason.getByText(help).boundingBox())?.y).toBeLessThan(812);
        expect([name, await violations(page)]).toEqual([name, []]);
        await shot(page, `failure-${name}`);
      }
    },
    { width: 375, height: 812 },
  );
});

test('the cause of a failed run leads to its step, and a rerun begins there with the saved agentflow', async () => {
  verifies('console.run', 'console.run.rerun');
  const person = await createPerson(deps);
  sink.answer('/broken', (_request, res) => res.writeHead(422).end('wrong'));
  const flow = flowThatCalls([], [`${sink.url}/broken`]);
  const id = await started(person, flow);
  const { agentflow_id } = await untilExecution(person.workspace, id, 'failed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    await page.getByRole('button', { name: 'Open the step “Call action_1”' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Response: 422' }).waitFor();
    await page.keyboard.press('Escape');
    const [first, second] = flow.agents;
    const skills = flowThatCalls([`${sink.url}/mended`]).agents[0]?.skills;
    const agents = [first, { ...second, skills }];
    expect(await person.workspace.api.patch(`/agentflow/${agentflow_id}`, { agents })).toMatchObject({ status: 200 });
    await page.getByRole('button', { name: 'Rerun…' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Start from').inputValue()).toBe('agent_2');
    await dialog.getByRole('combobox', { name: 'Agentflow', exact: true }).selectOption('As it is saved now');
    await dialog.getByRole('button', { name: 'Rerun', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await page.getByRole('status').filter({ hasText: 'completed' }).waitFor();
    const again = page.url().split('/').at(-1) ?? '';
    expect((await person.workspace.api.get(`/execute_flow/${again}`)).body).toMatchObject({
      ...{ start_from_agent_id: 'agent_2', execution_context: { rerun_of: id } },
    });
    expect(sink.seen('/mended')).toHaveLength(1);
  });
});

test('a cancelled run says who cancelled it, why, and how to go on', async () => {
  verifies('console.run', 'console.words');
  const person = await createPerson(deps);
  const id = await started(person, oneStep({ type: 'wait', seconds: 86_400 }));
  await untilExecution(person.workspace, id, 'running');
  await moveExecution(person.workspace, id, 'cancel', { reason: 'No longer needed' });
  await untilExecution(person.workspace, id, 'failed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    const reason = page.getByRole('region', { name: 'Cancellation reason' });
    await reason.getByText('No longer needed').waitFor();
    expect(await reason.textContent()).toContain('A person cancelled the run');
    await reason.getByText('Rerun it to continue').waitFor();
  });
});
