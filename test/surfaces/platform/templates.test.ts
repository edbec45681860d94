import { describe, expect, test } from '@jest/globals';
import { readTemplates, publishTemplates } from '../../../stack/templates.js';
import { newId } from '../../../src/base/ids.js';
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

async function outputOf(workspace: Workspace, id: string): Promise<any> {
  return (await untilExecution(workspace, id, 'completed')).conclusion.output;
}

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

  test('a mail is routed to one of three agents', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Route mails');
    const mail = { from: 'ada@example.com', subject: 'Invoice 17', text: 'Is invoice 17 paid?' };
    const id = await start(workspace, flow._id, mail);
    expect(await outputOf(workspace, id)).toEqual({
      topic: 'invoice',
      reply: expect.stringContaining('Is invoice 17 paid?'),
    });
    const refused = { agentflow_id: flow._id, goal: 'x', input_variables: { from: 'ada@example.com' } };
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

  test('a question is split, researched and answered with a typed result', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Research a question');
    const id = await start(workspace, flow._id, { question: 'Why do cranes rust?' });
    expect(await outputOf(workspace, id)).toEqual({
      answer: expect.any(String),
      confidence: expect.stringMatching(/^(low|medium|high)$/),
      findings: [
        { finding: expect.any(String), source: expect.any(String) },
        { finding: expect.any(String), source: expect.any(String) },
      ],
    });
  });

  test('two writers work on the same task and a judge chooses one text', async () => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Two writers and a judge');
    const id = await start(workspace, flow._id, { task: 'Say why tests matter' });
    const { winner, text } = await outputOf(workspace, id);
    expect(winner).toBe('bold');
    expect(text).toContain('Write this, boldly: Say why tests matter');
  });

  test.each([
    ['send', undefined, 'Write this: An invitation to Ada'],
    ['change', 'Make it shorter', 'Comment: Make it shorter'],
  ])('a person decides to %s a draft', async (decision, comment, says) => {
    verifies('templates.run');
    const workspace = await createWorkspace(deps);
    const flow = await hire(workspace, 'Ask before sending');
    const id = await start(workspace, flow._id, { task: 'An invitation to Ada' });
    const person = await personOf(deps, workspace);
    const question = await eventually(async () => {
      const { body } = await person.get('/inbox');
      expect(body.data).toMatchObject([{ kind: 'question', execution_id: id, status: 'waiting' }]);
      return body.data[0];
    });
    expect(question.body.message).toContain('May this be sent?');
    const values = comment === undefined ? { decision } : { decision, comment };
    const path = `/inbox/${encodeURIComponent(question._id)}/reply`;
    expect(await person.post(path, { decision: 'accept', values })).toMatchObject({ status: 200 });
    expect(await outputOf(workspace, id)).toEqual({ decision, text: expect.stringContaining(says) });
  });
});
