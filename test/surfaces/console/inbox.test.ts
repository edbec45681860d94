import { expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { newId } from '../../../src/base/ids.js';
import { shot } from '../../support/browser.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { field as inputField, flowOf } from '../../support/connectors.js';
import { actionTo, agentThatCalls } from '../../support/flows.js';
import { createKey, useDeps } from '../../support/fixture.js';
import { bearerClient, colleagueOf } from '../../support/gateway.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { rememberType, rememberWorkflowId } from '../../../workflows/remember/messages.js';
import { startOnce } from '../../../src/temporal/start-once.js';
import { eventually } from '../../support/eventually.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, refuseOlderPage, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();

const field = { field_id: 'subject', type: 'string', required: true };

/** An execution whose agent waits for a person before it calls the sink. */
async function waitingExecution({ workspace }: Person, name: string) {
  const path = `/${workspace.projectID}/${name}`;
  const agent = agentThatCalls([`${sink.url}${path}`]);
  const skills = agent.skills.map((skill) => ({
    ...skill,
    actions: skill.actions.map((action) => ({ ...action, input_schema: { fields: [field] } })),
  }));
  const id = await startExecution(
    workspace,
    { name, agents: [{ ...agent, skills, is_preview_mode_enabled: true }] },
    { goal: 'Send the letter', input_variables: { subject: 'Dear <b>Ada</b>' } },
  );
  await untilExecution(workspace, id, { status: 'running', execution_context: { waiting_for: { kind: 'preview' } } });
  return { id, path };
}

test('items are listed oldest first and decided by keyboard, exactly as they are shown', async () => {
  verifies('console.inbox', 'console.inbox-keys', 'console.accessible', 'agent.preview.decided');
  const person = await createPerson(deps);
  const first = await waitingExecution(person, 'First');
  const second = await waitingExecution(person, 'Second');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    await page.getByText('2 items, oldest first').waitFor();
    const other = await page.context().newPage();
    await other.goto(consoleUrl(person, '/inbox'));
    await other.getByText('2 items, oldest first').waitFor();
    const titles = await page
      .getByRole('list', { name: 'Waiting for a decision' })
      .getByRole('button')
      .allTextContents();
    expect(titles.map((title) => title.split(':')[0])).toEqual(['First', 'Second']);
    const shown = (await page.getByRole('article').textContent()) ?? '';
    for (const text of ['POST', `${sink.url}${first.path}`, '"subject": "Dear <b>Ada</b>"', 'Send the letter'])
      expect(shown).toContain(text);
    await shot(page, 'inbox');
    await page.getByRole('button', { name: 'Approve…' }).waitFor();
    // The focus goes into the item and back to it in the list.
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.locator('.inbox-chosen:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.inbox-items button[aria-current=true]:focus').waitFor();
    await page.getByRole('button', { name: 'Approve…' }).waitFor();
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: /^Approve: First/ }).waitFor();
    expect(sink.seen(first.path)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('1 item, oldest first').waitFor();
    await other.getByText('1 item, oldest first').waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /^Approved: / })
      .waitFor();
    await page.locator('.inbox-items button:focus').waitFor();
    await page.keyboard.press('r');
    await page.getByLabel('Reason (optional)').fill('not today');
    await page.keyboard.press('Enter');
    for (const tab of [page, other]) await tab.getByText('Nothing is waiting for a decision.').waitFor();
    await page.getByRole('region', { name: 'Command' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Nothing else waits.' }).waitFor();
    const decided = await page
      .getByRole('list', { name: 'Decided by you just now' })
      .getByRole('listitem')
      .allTextContents();
    expect(decided.map((text) => text.split(',')[0])).toEqual(['Rejected', 'Approved']);
    for (const text of decided) expect(text).toMatch(/SHA-256 of the decided text: [0-9a-f]{64}/);
    await page.getByRole('link', { name: 'Open decision' }).last().click();
    await page.getByText(/^Approved by .* on exactly this call/).waitFor();
  });
  await untilExecution(person.workspace, first.id, 'completed');
  expect(sink.seen(first.path)).toHaveLength(1);
  await untilExecution(person.workspace, second.id, 'failed');
  expect(sink.seen(second.path)).toEqual([]);
});

test('a held call is shown exactly with its votes, and its requester cannot decide it', async () => {
  verifies('console.inbox', 'console.approvals');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
  await gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  await gateway.post('/v1/save-model', { model: 'held-model' });
  const ownKey = bearerClient(await createKey(deps, { ...person.workspace, userId: person.userId }));
  await ownKey.post('/v1/save-model', { model: 'mine' });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const card = page.getByRole('article');
    await card.getByText('held-model', { exact: true }).waitFor();
    await card.getByText('0 of 1 approvals').waitFor();
    await page.getByRole('list', { name: 'Waiting for a decision' }).getByRole('button').nth(1).click();
    await card.getByText('Nobody decides on their own request.').waitFor();
    expect(await card.getByRole('button', { name: 'Approve…' }).count()).toBe(0);
    await page.getByRole('list', { name: 'Waiting for a decision' }).getByRole('button').first().click();
    await card.getByRole('button', { name: 'Approve…' }).click();
    await page.getByLabel('Reason (optional)').fill('as agreed');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('1 item, oldest first').waitFor();
  });
  const { body } = await gateway.get('/v1/approvals?status=approved');
  expect(body.data).toMatchObject([{ votes: [{ decision: 'approve', comment: 'as agreed' }] }]);
});

/** Calls of other people that wait for an approval. */
async function heldModels(person: Person, models: readonly string[]) {
  const gateway = bearerClient(person.workspace.apiKey);
  const asks = ['save-model', 'save-context'].map((tool) => ({
    ...{ policy_id: `ask-${tool}`, effect: 'require_approval', tools: [tool] },
  }));
  await gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ...asks] });
  for (const model of models) await gateway.post('/v1/save-model', { model });
  return gateway;
}

test('several calls of the same kind are marked and decided at once, each on its own text', async () => {
  verifies('console.inbox.several');
  const person = await createPerson(deps);
  const gateway = await heldModels(person, ['one', 'two', 'three']);
  const acme = { entities: [{ type: 'Company', name: 'Acme' }] };
  expect(await gateway.post('/v1/save-context', acme)).toMatchObject({ status: 202 });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const list = page.getByRole('list', { name: 'Waiting for a decision' });
    const mark = (text: string) => list.getByRole('checkbox', { name: new RegExp(`model ${text}`) });
    await mark('one').check();
    // Another kind needs another decision.
    expect(await list.getByRole('checkbox', { disabled: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Mark all 3 alike' }).click();
    await mark('two').uncheck();
    await shot(page, 'marked');
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog', { name: 'Reject 2 items?' });
    expect(await dialog.getByRole('listitem').count()).toBe(2);
    await dialog.getByLabel('Reason (optional)').fill('not these');
    await dialog.getByRole('button', { name: 'Reject 2 items' }).click();
    await dialog.getByText('2 of 2 processed, 2 succeeded.').waitFor();
    await shot(page, 'marked-decided');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 items, oldest first').waitFor();
    await page.locator('.inbox-items button:focus').waitFor();
    const decided = page.getByRole('list', { name: 'Decided by you just now' });
    expect(await decided.getByRole('listitem').count()).toBe(2);
  });
  const { body } = await gateway.get('/v1/approvals?status=rejected');
  expect(body.data.map(({ summary }: any) => summary.split(' ').at(-1)).sort()).toEqual(['one', 'three']);
  for (const { votes } of body.data) expect(votes).toMatchObject([{ comment: 'not these' }]);
});

test('an approver edits the call of an agent; a wrong value is explained, and nothing typed is lost', async () => {
  verifies('console.inbox.edit');
  const person = await createPerson(deps);
  const { workspace } = person;
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] };
  await bearerClient(workspace.apiKey).put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  const path = `/${workspace.projectID}/letter`;
  const fields = [inputField('text'), inputField('count', 'integer', false)];
  const action = { ...actionTo(`${sink.url}${path}`), input_schema: { fields } };
  const id = await startExecution(workspace, flowOf(null, action), { input_variables: { text: 'Dear Ada', count: 1 } });
  await untilExecution(workspace, id, { status: 'running', execution_context: { waiting_for: { kind: 'approval' } } });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const open = () => page.getByRole('article').getByRole('button', { name: 'Approve…' }).click();
    const approve = () => page.getByRole('button', { name: 'Approve', exact: true }).click();
    await open();
    await page.getByText('Edit call').click();
    await page.getByLabel('text (string)').fill('Dear Grace');
    await page.getByLabel('count (integer)').fill('three');
    await approve();
    await page.getByRole('alert').getByText('count (integer) must be of type integer').waitFor();
    await page.reload();
    await open();
    expect(await page.getByLabel('count (integer)').inputValue()).toBe('three');
    await page.getByLabel('count (integer)').fill('1.5');
    await approve();
    await page.getByRole('alert').getByText('must be of type integer').waitFor();
    await page.getByLabel('count (integer)').fill('3');
    await shot(page, 'edit');
    await approve();
    await page.getByText('Nothing is waiting for a decision.').waitFor();
  });
  await untilExecution(workspace, id, 'completed');
  expect(sink.seen(path).map(({ body }) => JSON.parse(body))).toEqual([{ text: 'Dear Grace', count: 3 }]);
});

test('every field of a held call is shown, under a name of its own and with its invisible characters', async () => {
  verifies('console.call-fields');
  const person = await createPerson(deps);
  const { workspace } = person;
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] };
  await bearerClient(workspace.apiKey).put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  const fields = [
    inputField('order', 'object'),
    inputField('order.to'),
    inputField('note'),
    inputField('many', 'object'),
  ];
  const action = { ...actionTo(`${sink.url}/${workspace.projectID}/fields`), input_schema: { fields } };
  const input_variables = {
    order: { to: 'grace@example.com', until: '', copies: [], via: null },
    'order.to': 'ada@example.com',
    note: 'pay \u202Emoc.elpmaxe\u202C to\u200Bday',
    many: Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`line_${at}`, `text ${at}`])),
  };
  const id = await startExecution(workspace, flowOf(null, action), { input_variables });
  await untilExecution(workspace, id, { status: 'running', execution_context: { waiting_for: { kind: 'approval' } } });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const card = page.getByRole('article');
    const shown = (name: string) =>
      card.locator('div', { has: page.getByText(name, { exact: true }) }).getByRole('definition');
    await card.getByText('Show all fields').click();
    await card.getByText('Exact call', { exact: true }).click();
    expect(await shown('body.many.line_69').textContent()).toBe('text 69');
    expect(await shown('body.order.to').textContent()).toBe('grace@example.com');
    expect(await shown('body."order.to"').textContent()).toBe('ada@example.com');
    expect(await shown('body.order.until').textContent()).toBe('empty text');
    expect(await shown('body.order.copies').textContent()).toBe('empty list');
    expect(await shown('body.order.via').textContent()).toBe('null');
    expect(await shown('body.note').textContent()).toBe('pay <U+202E>moc.elpmaxe<U+202C> to<U+200B>day');
    expect(await card.getByRole('region', { name: 'Exact call' }).textContent()).toContain('<U+202E>');
    await shot(page, 'call-fields');
  });
});

test('a person decides only on the call that the dialog showed', async () => {
  verifies('console.decision-seen');
  const person = await createPerson(deps);
  const { workspace } = person;
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'], approvers: 2 };
  await bearerClient(workspace.apiKey).put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  const path = `/${workspace.projectID}/order`;
  const action = { ...actionTo(`${sink.url}${path}`), input_schema: { fields: [inputField('text')] } };
  const id = await startExecution(workspace, flowOf(null, action), { input_variables: { text: 'one chair' } });
  const held = { status: 'running', execution_context: { waiting_for: { kind: 'approval' } } };
  const { execution_context } = await untilExecution(workspace, id, held);
  const colleague = await colleagueOf(deps, workspace);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const card = page.getByRole('article');
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await card.getByText('0 of 2 approvals').waitFor();
    await card.getByRole('button', { name: 'Approve…' }).click();
    await approve.waitFor();
    const address = `/v1/approvals/${execution_context.waiting_for.approval_id}/approve`;
    expect(await colleague.post(address, { edits: { text: 'ninety chairs' } })).toMatchObject({ status: 200 });
    await approve.click();
    await page
      .getByRole('alert')
      .getByText(/the call was edited|the call changed|What you decide changed/i)
      .first()
      .waitFor();
    expect(sink.seen(path)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    // The earlier text stays until the person asks for the new one, and cannot be decided.
    const showChanged = card.getByRole('button', { name: 'Show the changed text' });
    await showChanged.waitFor();
    await card.getByText('one chair').first().waitFor();
    expect(await card.getByRole('button', { name: 'Approve…' }).count()).toBe(0);
    await showChanged.click();
    await card.getByText('ninety chairs').first().waitFor();
    await card.getByText('1 of 2 approvals').waitFor();
    await card.getByRole('button', { name: 'Approve…' }).click();
    await page.getByRole('dialog').getByText('ninety chairs', { exact: true }).waitFor();
    await approve.click();
    await page.getByText('Nothing is waiting for a decision.').waitFor();
  });
  await untilExecution(workspace, id, 'completed');
  expect(sink.seen(path).map(({ body }) => JSON.parse(body))).toEqual([{ text: 'ninety chairs' }]);
});

test('what an MCP server asks is shown as its own text, and answered with the form that it sent', async () => {
  verifies('console.inbox.elicitation');
  const person = await createPerson(deps);
  const { projectID: project_id, organizationId: organization_id } = person.workspace;
  const [_id, now] = [newId(), Date.now() / 1000];
  const execution_id = await startExecution(person.workspace, { name: 'Trip', agents: [agentThatCalls([])] });
  await deps.mongo.collections.mcp_elicitations.insertOne({
    ...{ _id, project_id, organization_id, execution_id, agent_id: 'agent', step_id: 'agent/turn-1/0' },
    ...{ connector_id: newId(), server: 'https://travel.example.com/mcp', tool: 'book', agentflow: 'Trip' },
    message: 'Which <b>seat</b>?',
    form: {
      type: 'object',
      properties: {
        row: { type: 'integer', title: 'Row', minimum: 1, maximum: 40 },
        side: { type: 'string', title: 'Side', enum: ['aisle', 'window'], default: 'window' },
        meal: { type: 'boolean', title: 'Meal' },
        at: { type: 'string', title: 'Departure', format: 'date-time' },
      },
      required: ['row', 'meal'],
    },
    ...{ status: 'waiting', asked_at: now, until: now + 3600, expires_at: new Date((now + 7200) * 1000) },
    ...{ sealed: null, decided_by: null, decided_at: null, decision_id: null },
  });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    const card = page.getByRole('article');
    await card.getByText('Which <b>seat</b>?').waitFor();
    await card.getByText('https://travel.example.com/mcp').waitFor();
    await card.getByText('Do not enter passwords').waitFor();
    await card.getByRole('button', { name: 'Answer…' }).click();
    await page.getByLabel('Row').fill('12');
    await page.getByLabel('Meal').selectOption('No');
    await page.getByLabel('Departure').fill('tomorrow');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByRole('alert').getByText('Departure (optional)').waitFor();
    await shot(page, 'elicitation');
    await page.getByLabel('Departure').fill('2026-12-24T08:00:00Z');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('Nothing is waiting for a decision.').waitFor();
  });
  const kept = await deps.mongo.collections.mcp_elicitations.findOne({ _id });
  expect(kept).toMatchObject({ status: 'accepted', decided_by: person.userId });
  expect(JSON.parse(deps.auth.box.open(kept?.sealed ?? '', `mcp-elicitation/${_id}`))).toEqual({
    ...{ row: 12, side: 'window', meal: false, at: '2026-12-24T08:00:00Z' },
  });
});

test('a question is answered in a form with a field of every type, and what does not fit is marked there', async () => {
  verifies('console.inbox.elicitation');
  const person = await createPerson(deps);
  const form = {
    type: 'object',
    required: ['text'],
    properties: {
      text: { type: 'string', title: 'Name', minLength: 3 },
      level: { enum: [1, 2, 3], title: 'Level' },
      size: {
        title: 'Size',
        oneOf: [
          { const: 10, title: 'Small' },
          { const: 20, title: 'Large' },
        ],
      },
      maybe: { type: ['null', 'string'], title: 'Note' },
      tags: { type: 'array', items: { type: 'string' }, title: 'Tags' },
      prices: { type: 'array', items: { type: 'number' }, title: 'Prices' },
      several: { type: 'array', items: { enum: ['a', 'b', 'c'] }, title: 'Several' },
      rows: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } }, title: 'Rows' },
      place: { type: 'object', properties: { city: { type: 'string' } }, title: 'Place', default: { city: 'Oslo' } },
      either: { oneOf: [{ type: 'string' }, { type: 'number' }], title: 'Either' },
      day: { type: 'string', format: 'date', title: 'Day' },
      region: { type: 'string', default: 'north', title: 'Region' },
    },
  };
  const step = { _id: 'ask', type: 'ask', question: 'Fill in, please.', form };
  const id = await startExecution(person.workspace, { name: 'Form', agents: [], initialAgent: 'ask', steps: [step] });
  await untilExecution(person.workspace, id, { execution_context: { waiting_for: { kind: 'question' } } });
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/inbox'));
    await page.getByRole('button', { name: 'Answer…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Written as JSON, such as [{"sku":"text"}].').waitFor();
    await dialog.getByText('One in each line.').first().waitFor();
    expect(await dialog.getByLabel('Place').inputValue()).toBe('{"city":"Oslo"}');
    await dialog.getByLabel('Name').fill('Al');
    await dialog.getByLabel('Level').selectOption('2');
    await dialog.getByLabel('Size').selectOption('Large');
    await dialog.getByLabel('Note').fill('17');
    await dialog.getByLabel('Tags').fill('new\nold\n');
    await dialog.getByLabel('Prices').fill('1.5\n2');
    await dialog.getByLabel('Several').selectOption(['a', 'c']);
    await dialog.getByLabel('Rows').fill('[{"sku":"A"}]');
    await dialog.getByLabel('Either').fill('12');
    await dialog.getByLabel('Day').fill('2026-12-31');
    // A default can be cleared.
    await dialog.getByLabel('Region').fill('');
    expect(await dialog.getByLabel('Region').inputValue()).toBe('');
    expect(await violations(page)).toEqual([]);
    await shot(page, 'question-form');
    await dialog.getByRole('button', { name: 'Answer', exact: true }).click();
    await dialog.getByRole('alert').getByText('Name').waitFor();
    await dialog.getByLabel('Name').fill('Ada');
    await dialog.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('Nothing is waiting for a decision.').waitFor();
    complaints.splice(0);
  });
  const { conclusion } = await untilExecution(person.workspace, id, 'completed');
  expect(conclusion.output).toEqual({
    ...{ text: 'Ada', level: 2, size: 20, maybe: '17', tags: ['new', 'old'], prices: [1.5, 2], several: ['a', 'c'] },
    ...{ rows: [{ sku: 'A' }], place: { city: 'Oslo' }, either: 12, day: '2026-12-31' },
  });
});

/** A remembered text that waits for its review: it moves a known company, and the text says nothing of it. */
async function waitingMemory({ workspace }: Person): Promise<string> {
  const { projectID: project_id, organizationId: organization_id } = workspace;
  const acme = { type: 'Company', name: 'Acme' };
  const known = { subject: acme, predicate: 'headquarters', object: 'Paris', valid_from: 1_600_000_000 };
  const saved = await bearerClient(workspace.apiKey).post('/v1/save-context', { entities: [acme], facts: [known] });
  expect(saved.status).toBe(200);
  const memory_id = newId();
  const now = Date.now() / 1000;
  const { box } = deps.auth;
  const { temporal, mongo } = deps;
  const { memories, memory_parts } = mongo.collections;
  const input = { memory_id, project_id, organization_id, parts: 1, review: true };
  const span = { memory_id, turn: null, start: 0, end: 5 };
  const found = {
    entities: [
      { type: 'Company', name: 'Harmless', aliases: ['Acme'], properties: { offices: ['Lyon'] }, spans: [span] },
    ],
    facts: [
      {
        ...{ subject: { type: 'Company', name: 'Harmless' }, predicate: 'headquarters', object: 'Attackville', span },
        ...{ valid_from: now, valid_to: null },
      },
    ],
  };
  await memory_parts.insertOne({
    ...{ _id: `${memory_id}:0`, memory_id, part: 0, attempts: {}, is_extracted: true, saved: null },
    found: { sealed: box.seal(JSON.stringify(found), `${memory_id}:0`) },
    counts: { entities: 1, facts: 1, without_span: 2, outside_ontology: 0, wrong_time: 0, beyond_limit: 0 },
  });
  await memories.insertOne({
    ...{ _id: memory_id, project_id, organization_id, user_id: workspace.userId, digest: '', source: 'a mail' },
    turns: { sealed: box.seal(JSON.stringify([{ speaker: null, text: 'Hello', at: now }]), memory_id) },
    ...{ is_conversation: false, parts: [[{ turn: null, start: 0, end: 5 }]], entity_types: null, model: 'm' },
    ...{ budget: null, review: null, wants_review: true, status: 'running', failure: null, decided_by: null },
    ...{ created_at: now, ended_at: null, authority: { grants: ['svc:ontology.write'], role: 'OWNER' } },
  });
  await startOnce(temporal, rememberType, {
    ...{ workflowId: rememberWorkflowId(memory_id), args: [input], memo: { project: project_id } },
    typedSearchAttributes: attributePairs({ projectId: project_id, organizationId: organization_id }),
  });
  await eventually(async () => expect(await memories.findOne({ _id: memory_id })).toMatchObject({ status: 'waiting' }));
  return memory_id;
}

test('a remembered text is reviewed in tables that say what approving changes, and opened from Home', async () => {
  verifies('console.inbox.memory', 'console.memories');
  const person = await createPerson(deps);
  const memory_id = await waitingMemory(person);
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/memories'));
    await page.getByText('1 remembered text', { exact: true }).waitFor();
    const listed = page.getByRole('table', { name: 'Memories' }).getByRole('row').filter({ hasText: 'a mail' });
    await listed.getByText('Waiting').waitFor();
    await shot(page, 'memories');
    expect(await violations(page)).toEqual([]);
    await listed.getByRole('link', { name: 'Review it' }).click();
    await page.getByRole('article').getByText('merges 1 mention').waitFor();
    await page.goto(consoleUrl(person, '/'));
    await page.getByRole('link', { name: 'Facts of a text: a mail' }).click();
    const card = page.getByRole('article');
    await card.getByText('Adds 0 entities and 1 fact; merges 1 mention with an existing entity').waitFor();
    const changes = card.getByRole('region', { name: 'Changes of current facts', exact: true });
    for (const text of ['Acme', 'headquarters', 'Paris', 'Attackville'])
      expect(await changes.textContent()).toContain(text);
    const merges = card.getByRole('region', { name: 'Merged with existing entities', exact: true });
    for (const text of ['Harmless', 'Acme', 'offices: ["Lyon"]', 'Not in the quote'])
      expect(await merges.textContent()).toContain(text);
    expect(await card.textContent()).not.toContain('without_span');
    await refuseOlderPage(page, /\/review\?/, 'the store is away');
    await page.reload();
    await card.getByText('Your approval applies to all of them').waitFor();
    await card.getByRole('button', { name: 'Load more' }).click();
    const problem = card.getByRole('alert').getByText('The store is away');
    await problem.waitFor();
    await page.waitForResponse((answer) => answer.ok() && answer.url().includes('/review?'));
    expect(await problem.count()).toBe(1);
    await card.getByText('Attackville').first().waitFor();
    complaints.splice(0);
    await page.unrouteAll();
    await page.reload();
    await changes.waitFor();
    await shot(page, 'memory-review');
    await card.getByRole('button', { name: 'Approve…' }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Nothing is waiting for a decision.').waitFor();
  });
  await eventually(async () =>
    expect(await deps.mongo.collections.memories.findOne({ _id: memory_id })).toMatchObject({ status: 'completed' }),
  );
});
