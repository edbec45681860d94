import { describe, expect, test } from '@jest/globals';
import { readTemplates, publishTemplates } from '../../../stack/templates.js';
import { newId } from '../../../src/base/ids.js';
import type { ApiClient } from '../../support/client.js';
import { connectorOf } from '../../support/connectors.js';
import { eventually } from '../../support/eventually.js';
import { untilExecution } from '../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const publisher = await createWorkspace(deps);
const names = readTemplates().map(({ name }) => name);

/** Publishes the templates as `npm start` does. */
async function publish(): Promise<void> {
  const { organizationId: organization_id, projectID: project_id, apiKey: api_key } = publisher;
  const workspace: any = { organization_id, project_id, api_key };
  await publishTemplates({ apiUrl: testRun().url, workspace, signal: AbortSignal.timeout(60_000) });
}

async function publications(): Promise<any[]> {
  const { body } = await publisher.api.get('/marketplace?limit=200');
  return body.data.filter(({ organization_id }: any) => organization_id === publisher.organizationId);
}

/** Adds the template to the project of the workspace. */
async function hire({ api }: Workspace, name: string): Promise<any> {
  await publish();
  const found = (await publications()).find((each) => each.name === name);
  const hired = await api.post(`/marketplace/coworker/${found._id}/hire`, {});
  expect(hired).toMatchObject({ status: 201, body: { name } });
  return hired.body;
}

async function start({ api }: Workspace, agentflow_id: string, input_variables: object): Promise<string> {
  const run = await api.post('/execute_flow', { agentflow_id, goal: 'Try the template', input_variables });
  expect(run).toMatchObject({ status: 201 });
  const id = run.body.execution_id as string;
  expect(await api.post(`/execute_flow/${id}/execute`, {})).toMatchObject({ status: 200 });
  return id;
}

/** The inputs that the schema of the template has as examples. */
function examplesOf({ input_schema }: any): any {
  return Object.fromEntries(
    Object.entries<any>(input_schema.properties).map(([name, { examples = [] }]) => [name, examples[0]]),
  );
}

/** Answers the question that the run asks this person. */
async function answer(person: ApiClient, id: string, values: object): Promise<void> {
  const question = await eventually(async () => {
    const { body } = await person.get('/inbox');
    expect(body.data).toMatchObject([{ kind: 'question', execution_id: id, status: 'waiting' }]);
    return body.data[0];
  });
  const path = `/inbox/${encodeURIComponent(question._id)}/reply`;
  expect(await person.post(path, { decision: 'accept', values })).toMatchObject({ status: 200 });
}

/** Reports a payment to the run, as soon as it waits for it. */
async function pay({ api }: Workspace, id: string, data: object): Promise<void> {
  await untilExecution({ api } as Workspace, id, { execution_context: { waiting_for: { kind: 'event' } } });
  const sent = await api.post(`/execute_flow/${id}/events`, { name: 'payment.received', data });
  expect(sent).toMatchObject({ status: 200 });
}

async function outputOf(workspace: Workspace, id: string): Promise<any> {
  return (await untilExecution(workspace, id, 'completed')).conclusion.output;
}

/** Text that the offline model wrote. */
const written = (says: string) => expect.stringContaining(says);

interface Case {
  /** What a person answers. */
  answer?: object;
  /** What an event of a payment says. */
  payment?: object;
  output: unknown;
}

/** What each template does with the examples of its schema. The offline model chooses the first case and the smallest values. */
const cases: Record<string, Case> = {
  'Route mails': { output: { topic: 'invoice', reply: written('Is invoice 17 paid?') } },
  'Research a question': {
    output: {
      answer: written('Why do cranes rust?'),
      confidence: 'low',
      findings: [1, 2].map(() => ({ finding: written('Why do cranes rust?'), source: expect.any(String) })),
    },
  },
  'Two writers and a judge': {
    output: { winner: 'bold', reason: expect.any(String), text: written('Write this, boldly: Say why tests matter') },
  },
  'Ask before sending': {
    answer: { decision: 'send' },
    output: { decision: 'send', text: written('Write this: An invitation to Ada') },
  },
  'Translate a text': {
    output: {
      translations: ['German', 'French', 'Japanese'].map((language) => ({
        language,
        text: written(`Translate this text into ${language}.`),
      })),
    },
  },
  'Sum up a long text': { output: { summary: written('Write one summary'), parts: 1 } },
  'Check an invoice': {
    answer: { approved: true, comment: 'As ordered' },
    output: {
      supplier: written('Invoice 17 of Crane Ltd'),
      number: expect.any(String),
      total: 0,
      currency: expect.any(String),
      approved: true,
      decided_by: 'person',
      comment: 'As ordered',
    },
  },
  'Improve a draft': {
    output: {
      text: written('Write this: Announce the new opening hours'),
      passed: true,
      comment: expect.any(String),
      rounds: 1,
    },
  },
  'Sort support tickets': {
    output: {
      tickets: ['T-1', 'T-2'].map((id) => ({ id, urgency: 'high', team: 'technical', reason: expect.any(String) })),
      urgent: 2,
    },
  },
  'Approve an expense': {
    answer: { approved: false, comment: 'Take the bus' },
    output: { approved: false, decided_by: 'approver', comment: 'Take the bus' },
  },
  'Wait for a payment': {
    payment: { invoice: '17', amount: 480 },
    output: { status: 'paid', mail: written('Thank Crane Ltd for the payment of invoice 17.') },
  },
  'Reply without personal data': {
    output: {
      reply: written('Please pay to DE89370400440532013000, and answer to ada@example.com or +41 44 668 18 00.'),
      hidden: 3,
    },
  },
  'Tasks from meeting notes': {
    output: {
      tasks: [{ task: written('Ada sends the offer'), owner: expect.any(String), due: '2026-12-01' }],
      without_owner: [],
    },
  },
  'Compare offers': {
    output: { fits: true, supplier: 'Bolt Inc', price: 450, reason: 'The cheapest of 2 offers that arrive in time.' },
  },
};

describe('the templates', () => {
  test('are published once, however often the product starts', async () => {
    verifies('templates.published');
    await publish();
    await publish();
    expect((await publications()).map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const { description } of await publications()) expect(description).toMatch(/Inputs: .*Result: .*[Nn]eeds /);
  });

  test('an interrupted start is completed', async () => {
    verifies('templates.published');
    const interrupted = await createWorkspace(deps);
    const [first] = readTemplates();
    expect(await interrupted.api.post('/agentflow', first)).toMatchObject({ status: 201 });
    const { organizationId: organization_id, projectID: project_id, apiKey: api_key } = interrupted;
    const workspace: any = { organization_id, project_id, api_key };
    await publishTemplates({ apiUrl: testRun().url, workspace, signal: AbortSignal.timeout(60_000) });
    const { body } = await interrupted.api.get('/agentflow?limit=200');
    expect(body.data.map(({ name }: any) => name).sort()).toEqual([...names].sort());
  });

  test('say what each input is, with an example', () => {
    verifies('templates.examples');
    const inputs = readTemplates().flatMap(({ name, input_schema }: any) =>
      Object.entries<object>(input_schema.properties).map(([input, schema]) => ({ name, input, ...schema })),
    );
    for (const each of inputs)
      expect(each).toMatchObject({
        title: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/^[A-Z]/),
        // Nobody knows the ids of a project before.
        ...(each.name !== 'Enrich table rows' && { examples: [expect.anything()] }),
      });
  });

  test.each(names.filter((name) => name !== 'Enrich table rows'))('%s: runs with its examples', async (name) => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, name);
    const { answer: values, payment, output } = cases[name] ?? { output: 'a case of this test' };
    const id = await start(workspace, flow._id, examplesOf(flow));
    if (values) await answer(await personOf(deps, workspace), id, values);
    if (payment) await pay(workspace, id, payment);
    expect(await outputOf(workspace, id)).toEqual(output);
    const refused = { agentflow_id: flow._id, goal: 'x', input_variables: {} };
    expect(await workspace.api.post('/execute_flow', refused)).toMatchObject({ status: 422 });
  });

  test('rows of a table are enriched by another service, and the ones that have a note are left alone', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const { api, projectID, apiKey } = workspace;
    const flow = await hire(workspace, 'Enrich table rows');
    const columns = ['name', 'note'].map((column_name) => ({ column_name, column_type: 'string' }));
    const { body: table } = await api.post(`/storage/${projectID}/table`, { table_name: 'Companies', columns });
    const rows = Array.from({ length: 50 }, (_, at) => ({ name: `Company ${at}` }));
    const added = await api.post(`/storage/${projectID}/table/${table._id}/row`, [
      ...rows,
      { name: 'Old', note: 'kept' },
    ]);
    expect(added).toMatchObject({ status: 201 });
    const path = `/${newId()}`;
    sink.answer(path, ({ path: asked }, res) => {
      const name = new URL(asked, sink.url).searchParams.get('name');
      res.setHeader('content-type', 'application/json').end(JSON.stringify({ note: `About ${name}` }));
    });
    const auth = { type: 'header', name: 'x-api-key', value: apiKey };
    const service = await connectorOf(workspace, 'restful', { base_url: testRun().url, auth });
    const asked = await connectorOf(workspace, 'restful', { base_url: `${sink.url}${path}` });
    const connectors: Record<string, string> = { rows: service._id, ask: asked._id, write: service._id };
    const steps = flow.steps.map((step: any) => ({
      ...step,
      ...(step._id in connectors && { connector_id: connectors[step._id] }),
    }));
    expect(await api.patch(`/agentflow/${flow._id}`, { steps })).toMatchObject({ status: 200 });
    const id = await start(workspace, flow._id, { project: projectID, table: table._id });
    expect(await outputOf(workspace, id)).toMatchObject({ rows: 50 });
    const { body } = await api.get(`/storage/${projectID}/table/${table._id}/records?limit=200`);
    expect(body.data).toHaveLength(51);
    for (const { name, note } of body.data) expect(note).toBe(name === 'Old' ? 'kept' : `About ${name}`);
  });

  test('a draft is changed as a person says', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Ask before sending');
    const id = await start(workspace, flow._id, examplesOf(flow));
    const values = { decision: 'change', comment: 'Make it shorter' };
    await answer(await personOf(deps, workspace), id, values);
    expect(await outputOf(workspace, id)).toEqual({ decision: 'change', text: written('Comment: Make it shorter') });
  });

  test('a long text is summed up in parts that end with a sentence', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Sum up a long text');
    const sentences = Array.from(
      { length: 200 },
      (_, at) => `Sentence ${at} says what crane ${at} carried on day ${at}.`,
    );
    const id = await start(workspace, flow._id, { text: sentences.join(' ') });
    expect(await outputOf(workspace, id)).toMatchObject({ parts: 3 });
    const { body } = await workspace.api.get(`/execute_flow/${id}/evaluate?expression=outputs.divide&at=result`);
    expect(body.value.join('')).toBe(sentences.join(' '));
    for (const part of body.value) expect(part).toMatch(/\.\s?$/);
  });

  test.each([
    ['nobody has approved', 0, 'below', false],
    ['is approved by rule', 499.5, 'below', true],
    ['is decided by a person', 500, 'below', false],
  ])('an invoice %s, with a total of %d', async (_, total, name, isByRule) => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Check an invoice');
    const reader = { supplier: 'Crane Ltd', number: '17', total, currency: 'EUR' };
    const tried = { inputs: examplesOf(flow), outputs: { reader } };
    const { body } = await workspace.api.post(`/agentflow/${flow._id}/steps/amount/try`, tried);
    const { case: chosen } = await outputOf(workspace, body.execution_id);
    expect(chosen === name).toBe(isByRule);
  });

  test('an expense that no approver answers is decided by an administrator, or ends without an approval', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Approve an expense');
    const [approver, administrator, ...others] = flow.steps;
    const late = { ...approver, deadline_seconds: 1 };
    const patch = (steps: object[]) => workspace.api.patch(`/agentflow/${flow._id}`, { steps });
    expect(await patch([late, administrator, ...others])).toMatchObject({ status: 200 });
    const escalated = await start(workspace, flow._id, examplesOf(flow));
    await untilExecution(workspace, escalated, { execution_context: { waiting_for: { step_id: 'administrator' } } });
    await answer(await personOf(deps, workspace), escalated, { approved: true });
    expect(await outputOf(workspace, escalated)).toEqual({ approved: true, decided_by: 'administrator', comment: '' });
    expect(await patch([late, { ...administrator, deadline_seconds: 1 }, ...others])).toMatchObject({ status: 200 });
    const dropped = await start(workspace, flow._id, examplesOf(flow));
    expect(await outputOf(workspace, dropped)).toEqual({ approved: false, decided_by: 'nobody', comment: '' });
  });

  test.each([
    ['late', { days: 0 }, undefined, 'Remind Crane Ltd of invoice 17: 480 were due'],
    ['partly_paid', {}, { invoice: '17', amount: 200 }, 'Crane Ltd has paid 200 of 480 for invoice 17.'],
    ['paid', {}, { invoice: '17' }, 'Thank Crane Ltd'],
  ])('a payment that is %s gets the mail that fits', async (status, change, payment, says) => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Wait for a payment');
    const id = await start(workspace, flow._id, { ...examplesOf(flow), ...change });
    if (payment) await pay(workspace, id, payment);
    expect(await outputOf(workspace, id)).toEqual({ status, mail: written(says) });
  });

  test('a single-use address reports a payment, too', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Wait for a payment');
    const id = await start(workspace, flow._id, examplesOf(flow));
    await untilExecution(workspace, id, { execution_context: { waiting_for: { kind: 'event' } } });
    const { body } = await workspace.api.post(`/execute_flow/${id}/addresses`, { step_id: 'wait/payment/payment' });
    expect(await fetch(workspace.api.url + new URL(body.url).pathname, { method: 'POST' })).toMatchObject({ ok: true });
    expect(await outputOf(workspace, id)).toMatchObject({ status: 'paid' });
  });

  test('the model sees placeholders instead of personal data', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Reply without personal data');
    const id = await start(workspace, flow._id, examplesOf(flow));
    const { agents_output } = await untilExecution(workspace, id, 'completed');
    const [{ output }] = agents_output;
    expect(output).toContain('Please pay to [value 1], and answer to [value 2] or [value 3].');
    expect(output).not.toMatch(/DE89|ada@|668/);
  });

  test('no offer is chosen if none arrives in time', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Compare offers');
    const id = await start(workspace, flow._id, { ...examplesOf(flow), max_days: 2 });
    const reason = 'No offer arrives in time.';
    expect(await outputOf(workspace, id)).toEqual({ fits: false, supplier: null, price: null, reason });
  });
});
