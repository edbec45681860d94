import { describe, expect, test } from '@jest/globals';
import { removeContents } from '../../../../src/domain/projects/remove-contents.js';
import { lockProject } from '../../../../src/graph/ontology/state.js';
import { inWriteTransaction } from '../../../../src/graph/store/sessions.js';
import { rememberWorkflowId } from '../../../../workflows/remember/messages.js';
import { bearerClient } from '../../../support/gateway.js';
import { eventually } from '../../../support/eventually.js';
import { createKey, createWorkspace, personOf, useDeps } from '../../../support/fixture.js';
import { beginStream, sendJson } from '../../../support/fake-model.js';
import { file, send } from '../../../support/uploads.js';
import { verifies } from '../../../support/verifies.js';
import {
  facts,
  livesIn,
  memoryOf,
  ontology,
  reached,
  remember,
  remembered,
  said,
  sendFacts,
  textOf,
  useMemoryProduct,
  type Remembering,
} from './memory-product.js';

const deps = useDeps();
const product = useMemoryProduct(deps);

const inBerlin = 'Ada Lovelace lives in Berlin.';
const berlin = () => livesIn('Ada Lovelace', 'Berlin', inBerlin);
const inbox = async ({ api }: Remembering) => (await api.get('/inbox')).body.data;

/** Simulates another process that writes to the graph of the project until `work` has ended. */
async function withLock<T>({ projectID }: Remembering, work: () => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined;
  await inWriteTransaction(deps.graph, projectID, async (tx) => {
    await lockProject(tx, projectID);
    await (result ??= work());
  });
  return result as Promise<T>;
}

describe('POST /v1/remember', () => {
  test('writes what the text says with its source, its time and its characters', async () => {
    verifies('memory.remember', 'memory.span');
    const workspace = await product.workspace(berlin);
    const text = `Some words before. ${inBerlin}`;
    const memory = await remembered(workspace, { text, source: 'interview', at: '2024-03-01T00:00:00Z' });
    expect(memory).toMatchObject({
      parts: { total: 1, extracted: 1, written: 1 },
      found: { entities: 1, facts: 1, without_span: 0, outside_ontology: 0 },
      written: { entities: 1, facts: 1, closed: 0, dropped: 0 },
      retries: 0,
      cost: { credits: 1, budget: null, input_tokens: 800, output_tokens: 200 },
      failure: null,
    });
    const [row] = await facts(workspace);
    expect(row.fact).toMatchObject({
      predicate: 'city',
      object: 'Berlin',
      valid_from: Date.parse('2024-03-01T00:00:00Z') / 1000,
      provenance: {
        saved_by: workspace.userId,
        source: 'interview',
        span: { memory_id: memory.memory_id, turn: null },
      },
    });
    const { start, end } = row.fact.provenance.span;
    expect(text.slice(start, end)).toBe(inBerlin);
  });

  test('binds the model to the ontology, and drops what is not in the text or not in the ontology', async () => {
    verifies('memory.schema', 'memory.hallucinated');
    const workspace = await product.workspace(() => ({
      entities: [
        { type: 'Person', name: 'Ada Lovelace', quote: 'Ada Lovelace' },
        { type: 'Person', name: 'Grace Hopper', quote: 'Grace Hopper' },
        { type: 'Ship', name: 'Berlin', quote: 'Berlin' },
      ],
      facts: [
        { subject: 'Ada Lovelace', predicate: 'city', object: 'Berlin', quote: inBerlin },
        { subject: 'Ada Lovelace', predicate: 'employer', object: 'Acme', quote: 'Ada works at Acme' },
        { subject: 'Ada Lovelace', predicate: 'shoe size', object: 38, quote: inBerlin },
      ],
    }));
    const memory = await remembered(workspace, { text: inBerlin });
    expect(memory.found).toEqual({
      entities: 1,
      facts: 1,
      without_span: 2,
      outside_ontology: 2,
      wrong_time: 0,
      beyond_limit: 0,
    });
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Berlin']);
    const [asked] = product.model.asked(workspace.model);
    const { function: tool } = asked?.body.tools[0];
    expect(asked?.body.tool_choice).toEqual({ type: 'function', function: { name: 'record_facts' } });
    expect(tool.parameters.properties.entities.items.anyOf.map((each: any) => each.properties.type.const)).toEqual([
      'Person',
      'Company',
    ]);
    expect(tool.parameters.properties.relationships.items.properties.type).toEqual({ enum: ['WORKS_AT'] });
  });

  test('closes a fact that a later text contradicts, at the time of that text', async () => {
    verifies('memory.contradiction');
    const inParis = 'Ada Lovelace moved to Paris.';
    const workspace = await product.workspace((asked) =>
      asked.includes('Paris') ? livesIn('Ada Lovelace', 'Paris', inParis) : berlin(),
    );
    await remembered(workspace, { text: inBerlin, at: '2024-01-01T00:00:00Z' });
    const memory = await remembered(workspace, { text: inParis, at: '2025-06-01T00:00:00Z' });
    expect(memory.written).toMatchObject({ entities: 0, facts: 1, closed: 1, dropped: 0, ended: 0 });
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Paris']);
    const before = await facts(workspace, '2024-12-31T00:00:00Z');
    expect(said(before)).toEqual(['Ada Lovelace city Berlin']);
    expect(before[0].fact.valid_to).toBe(Date.parse('2025-06-01T00:00:00Z') / 1000);
  });

  test('takes a conversation by turn, with speakers, times and relationships', async () => {
    verifies('memory.conversation');
    const workspace = await product.workspace(() => ({
      entities: [
        { type: 'Person', name: 'Ada', quote: 'Ada' },
        { type: 'Company', name: 'Acme', quote: 'Acme' },
      ],
      relationships: [{ from: 'Ada', type: 'WORKS_AT', to: 'Acme', quote: 'works at Acme' }],
    }));
    await remembered(workspace, {
      turns: [
        { speaker: 'Bob', text: 'Any news of Ada?', at: '2024-01-01T00:00:00Z' },
        { speaker: 'Eve', text: 'She works at Acme now.', at: '2024-01-02T00:00:00Z' },
      ],
    });
    expect(textOf(product.model.asked(workspace.model)[0]!)).toContain('[2024-01-02T00:00:00.000Z] Eve: She works');
    const [row] = await facts(workspace);
    expect(row.fact).toMatchObject({
      predicate: 'WORKS_AT',
      valid_from: Date.parse('2024-01-02T00:00:00Z') / 1000,
      provenance: { span: { turn: 1, start: 4, end: 17 } },
    });
  });

  test('reads a long text in parts', async () => {
    const workspace = await product.workspace((asked) =>
      asked.includes(inBerlin) ? berlin() : { entities: [], facts: [] },
    );
    const memory = await remembered(workspace, { text: `${'Nothing of interest here. '.repeat(600)}${inBerlin}` });
    expect(memory.parts).toEqual({ total: 3, extracted: 3, written: 3 });
    const [row] = await facts(workspace);
    expect(row.fact.provenance.span.start).toBe(26 * 600);
  });

  test('answers a repeated Idempotency-Key with the same memory, and refuses it with another text', async () => {
    verifies('memory.idempotent');
    const workspace = await product.workspace(berlin);
    const key = { 'idempotency-key': 'one' };
    const first = await remember(workspace, { text: inBerlin }, key);
    const again = await remember(workspace, { text: inBerlin }, key);
    expect(again.memory_id).toBe(first.memory_id);
    await reached(workspace, first.memory_id, 'completed');
    expect(product.model.asked(workspace.model)).toHaveLength(1);
    const other = await workspace.gateway.post('/v1/remember', { text: 'Another text.' }, key);
    expect(other.status).toBe(409);
  });

  test('asks the model again after an unusable answer, and counts the retry and its cost', async () => {
    verifies('memory.status');
    const workspace = await product.workspace(berlin);
    product.model.on(workspace.model, (res, _asked, attempt) =>
      attempt === 1 ? sendFacts(res, [] as never) : sendFacts(res, berlin()),
    );
    const memory = await remembered(workspace, { text: inBerlin });
    expect(memory).toMatchObject({ retries: 1, cost: { credits: 2 } });
    const { body } = await workspace.api.get('/credit/history');
    const mine = body.data.filter(({ execution_id }: any) => execution_id === memory.memory_id);
    expect(mine.map(({ credits }: any) => credits)).toEqual([1, 1]);
  });

  test('asks the model again immediately after a long answer without an object', async () => {
    verifies('memory.status');
    const workspace = await product.workspace(berlin);
    const message = { role: 'assistant', content: '{'.repeat(900_000) };
    product.model.on(workspace.model, (res, _asked, attempt) =>
      attempt === 1
        ? sendJson(res, 200, { choices: [{ index: 0, finish_reason: 'stop', message }] })
        : sendFacts(res, berlin()),
    );
    expect(await remembered(workspace, { text: inBerlin })).toMatchObject({ retries: 1, written: { facts: 1 } });
  });

  test('stops at the budget and writes nothing', async () => {
    verifies('memory.budget');
    const workspace = await product.workspace(berlin);
    const text = `${inBerlin} ${'Nothing of interest here. '.repeat(600)}`;
    const { memory_id } = await remember(workspace, { text, budget: 2.9 });
    const memory = await reached(workspace, memory_id, 'failed');
    expect(memory.failure).toMatch(/^budget: 2.9 credits do not cover the next model turn; 1 are spent/);
    expect(await facts(workspace)).toEqual([]);
  });

  test('writes nothing twice and nothing partially when the worker is killed', async () => {
    verifies('memory.killed');
    const workspace = await product.workspace(berlin);
    product.model.on(workspace.model, (res, _asked, attempt) => {
      if (attempt === 1) beginStream(res);
      else sendFacts(res, berlin());
    });
    const { memory_id } = await remember(workspace, { text: inBerlin });
    await eventually(() => expect(product.model.asked(workspace.model)).toHaveLength(1));
    await product.worker.end('SIGKILL');
    expect(await facts(workspace)).toEqual([]);
    product.worker = await product.product.worker();
    const memory = await reached(workspace, memory_id, 'completed');
    expect(memory.written).toMatchObject({ entities: 1, facts: 1 });
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Berlin']);
  });

  test.each([
    ['an empty text', { text: ' \n ' }, 422, 'text: is empty'],
    ['no text', {}, 400, 'needs either'],
    ['a text that is too long', { text: 'a'.repeat(200_001) }, 400, 'text'],
    ['turns that are too long', { turns: Array(7).fill({ speaker: 'A', text: 'a'.repeat(32_000) }) }, 422, '224000'],
    ['an unknown type', { text: inBerlin, entity_types: ['Ship'] }, 422, 'Ship is not a type'],
  ])('refuses %s', async (_, input, status, message) => {
    verifies('memory.bad-input');
    const workspace = await product.workspace(berlin);
    const answer = await workspace.gateway.post('/v1/remember', input);
    expect(answer.status).toBe(status);
    expect(answer.body.error_description).toContain(message);
    expect(await deps.mongo.collections.memories.countDocuments({ project_id: workspace.projectID })).toBe(0);
  });

  test('refuses without an ontology, with one that cannot hold facts, and without a model', async () => {
    verifies('memory.bad-input');
    const none = await product.workspace(berlin, { ontology: null });
    const answers = [await none.gateway.post('/v1/remember', { text: inBerlin })];
    const bare = await product.workspace(berlin, { ontology: { entity_types: { Person: {} } } });
    answers.push(await bare.gateway.post('/v1/remember', { text: inBerlin }));
    expect(answers.map(({ status, body }) => [status, body.error_description])).toEqual([
      [422, expect.stringContaining('has no ontology')],
      [422, expect.stringContaining('cannot hold facts')],
    ]);
    const { apiKey, api } = await createWorkspace(deps);
    const offline = await bearerClient(apiKey).post('/v1/remember', { text: inBerlin });
    expect([offline.status, offline.body.error_description]).toEqual([409, expect.stringMatching(/^unconfigured: /)]);
    expect(api).toBeDefined();
  });
});

describe('POST /v1/memory', () => {
  test('cannot be called from other projects', async () => {
    verifies('memory.tenancy');
    const [mine, theirs] = [await product.workspace(berlin), await product.workspace(berlin)];
    const { memory_id } = await remembered(mine, { text: inBerlin });
    for (const operation of ['get', 'cancel', 'approve']) {
      const answer = await theirs.gateway.post('/v1/memory', { operation, memory_id });
      expect(answer.status).toBe(404);
    }
    const reader = await createKey(deps, { ...mine, departmentId: '' }, { grants: ['svc:query.read'] });
    const answer = await bearerClient(reader, product.api.url).post('/v1/memory', { operation: 'cancel', memory_id });
    expect(answer.status).toBe(403);
  });

  test('cancels before anything is written', async () => {
    verifies('memory.cancel');
    const workspace = await product.workspace(berlin);
    product.model.on(workspace.model, (res) => beginStream(res));
    const { memory_id } = await remember(workspace, { text: inBerlin });
    await eventually(() => expect(product.model.asked(workspace.model)).toHaveLength(1));
    const { status } = await workspace.gateway.post('/v1/memory', { operation: 'cancel', memory_id });
    expect(status).toBe(200);
    await reached(workspace, memory_id, 'cancelled');
    expect(await facts(workspace)).toEqual([]);
    const again = await workspace.gateway.post('/v1/memory', { operation: 'cancel', memory_id });
    expect([again.status, again.body.error_description]).toEqual([409, expect.stringContaining('is cancelled')]);
  });

  test('writes only after the review, which the inbox shows', async () => {
    verifies('memory.review');
    const workspace = await product.workspace(berlin);
    const { memory_id } = await remember(workspace, { text: inBerlin, review: true, source: 'interview' });
    await reached(workspace, memory_id, 'waiting');
    expect(await facts(workspace)).toEqual([]);
    const [item] = await inbox(workspace);
    expect(item).toMatchObject({
      _id: `memory:${memory_id}`,
      kind: 'memory',
      status: 'waiting',
      body: {
        memory_id,
        source: 'interview',
        facts: [{ subject: 'Ada Lovelace', predicate: 'city', object: 'Berlin' }],
      },
    });
    const reply = await (
      await personOf(deps, workspace, { url: product.api.url })
    ).post(`/inbox/${item._id}/reply`, { decision: 'approve' });
    expect([reply.status, reply.body.status]).toEqual([200, 'approved']);
    await reached(workspace, memory_id, 'completed');
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Berlin']);
    expect(await inbox(workspace)).toEqual([]);
  });

  test('requests no further decision while an approved memory waits to be written', async () => {
    verifies('memory.review');
    const workspace = await product.workspace(berlin);
    const { memory_id } = await remember(workspace, { text: inBerlin, review: true });
    await reached(workspace, memory_id, 'waiting');
    const written = await withLock(workspace, async () => {
      const reply = await (
        await personOf(deps, workspace, { url: product.api.url })
      ).post(`/inbox/memory:${memory_id}/reply`, { decision: 'approve' });
      expect([reply.status, reply.body.status]).toEqual([200, 'approved']);
      expect(await inbox(workspace)).toEqual([]);
      expect(await memoryOf(workspace, memory_id)).toMatchObject({ status: 'running' });
      return facts(workspace);
    });
    expect(written).toEqual([]);
    await reached(workspace, memory_id, 'completed');
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Berlin']);
  });

  test('shows a review without personal data, as it shows the graph', async () => {
    verifies('memory.review');
    const text = 'Ada Lovelace can be reached at ada.lovelace@example.com.';
    const workspace = await product.workspace(() => livesIn('Ada Lovelace', 'ada.lovelace@example.com', text));
    const { memory_id } = await remember(workspace, { text, review: true });
    await reached(workspace, memory_id, 'waiting');
    const [item] = await inbox(workspace);
    const alone = await workspace.api.post(`/inbox/${item._id}/read`, {});
    for (const shown of [item, alone.body]) {
      expect(shown.body.facts).toMatchObject([{ subject: 'Ada Lovelace', predicate: 'city' }]);
      expect(JSON.stringify(shown)).not.toContain('ada.lovelace@');
    }
    const reply = await (
      await personOf(deps, workspace, { url: product.api.url })
    ).post(`/inbox/${item._id}/reply`, { decision: 'approve' });
    expect(JSON.stringify(reply.body)).not.toContain('ada.lovelace@');
    await reached(workspace, memory_id, 'completed');
    expect(JSON.stringify(await facts(workspace))).not.toContain('ada.lovelace@');
  });

  test('writes nothing after a rejection', async () => {
    verifies('memory.review');
    const workspace = await product.workspace(berlin);
    const { memory_id } = await remember(workspace, { text: inBerlin, review: true });
    await reached(workspace, memory_id, 'waiting');
    const person = await personOf(deps, workspace, { url: product.api.url });
    await person.post('/v1/memory', { operation: 'reject', memory_id });
    await reached(workspace, memory_id, 'rejected');
    expect(await facts(workspace)).toEqual([]);
  });
});

describe('the memories of a deleted project', () => {
  test('store nothing that a model answers after the deletion', async () => {
    verifies('memory.retention');
    const workspace = await product.workspace(berlin);
    let answer: (() => void) | undefined;
    product.model.on(workspace.model, (res) => (answer = () => sendFacts(res, berlin())));
    const { memory_id } = await remember(workspace, { text: inBerlin });
    await eventually(() => expect(answer).toBeDefined());
    const { projectID, organizationId, userId } = workspace;
    const removal = { project_id: projectID, organization_id: organizationId, deleted_by: userId };
    await removeContents(deps, removal, new AbortController().signal);
    answer?.();
    await expect(deps.temporal.client.workflow.getHandle(rememberWorkflowId(memory_id)).result()).rejects.toThrow();
    const { memories, memory_parts } = deps.mongo.collections;
    expect(await memories.countDocuments({ _id: memory_id })).toBe(0);
    expect(await memory_parts.find({ memory_id }).toArray()).toEqual([]);
  });
});

describe('the writes of a memory', () => {
  test('are governed: the rules about save-context apply to them', async () => {
    verifies('memory.governed');
    const workspace = await product.workspace(berlin);
    await workspace.gateway.put('/v1/policies', {
      policies: [
        { policy_id: 'all', effect: 'permit' },
        { policy_id: 'no-writes', effect: 'forbid', tools: ['save-context'] },
      ],
    });
    const { memory_id } = await remember(workspace, { text: inBerlin });
    expect((await reached(workspace, memory_id, 'failed')).failure).toContain('no-writes');
    expect(await facts(workspace)).toEqual([]);
  });
});

describe('POST /knowledge_base/{projectID}/upload with extract', () => {
  const stored = { properties: {}, open: true };
  const documents = {
    entity_types: { ...ontology.entity_types, Document: stored, DocumentChunk: stored },
    relationship_types: { PART_OF: {} },
  };

  test('remembers the document, and names the chunk of each fact', async () => {
    verifies('memory.knowledge');
    const workspace = await product.workspace(berlin, { ontology: documents });
    const path = `/knowledge_base/${workspace.projectID}/upload`;
    const parts = [{ name: 'extract', content: 'true' }, file('notes.txt', inBerlin)];
    const { status, body } = await send(workspace.api, path, parts);
    expect([status, body.data?.[0]?.memory_id]).toEqual([202, null]);
    const { memory_id } = await eventually(async () => {
      const read = await workspace.api.get(`${path}/${body.data[0].file._id}`);
      expect(read.body).toMatchObject({ status: 'completed', memory_id: expect.any(String), extract_failure: null });
      return read.body;
    });
    await reached(workspace, memory_id, 'completed');
    const [row] = await facts(workspace);
    expect(row.fact.provenance).toMatchObject({
      source: expect.stringContaining(body.data[0].file._id),
      span: { memory_id, turn: 0, start: 0, end: inBerlin.length },
    });
  });

  test('says why the facts are not extracted, and keeps the chunks', async () => {
    verifies('memory.knowledge');
    const workspace = await product.workspace(berlin, { ontology: null });
    const path = `/knowledge_base/${workspace.projectID}/upload`;
    const parts = [{ name: 'extract', content: 'true' }, file('notes.txt', inBerlin)];
    const { body } = await send(workspace.api, path, parts);
    await eventually(async () => {
      const read = await workspace.api.get(`${path}/${body.data[0].file._id}`);
      expect(read.body).toMatchObject({
        status: 'completed',
        memory_id: null,
        extract_failure: expect.stringContaining('has no ontology'),
      });
    });
  });
});

describe('POST /v1/undo-merge', () => {
  const aka = { aliases: ['Lady Lovelace'] };

  test('moves the facts of a mention to an entity of its own, and restores what they had closed', async () => {
    verifies('memory.merge', 'memory.undo-merge');
    const inParis = 'Lady Lovelace moved to Paris.';
    const workspace = await product.workspace((asked) =>
      asked.includes('Paris')
        ? livesIn('lady  lovelace', 'Paris', inParis, { quote: 'Lady Lovelace' })
        : livesIn('Ada Lovelace', 'Berlin', inBerlin, aka),
    );
    await remembered(workspace, { text: inBerlin, at: '2024-01-01T00:00:00Z' });
    const memory = await remembered(workspace, { text: inParis, at: '2025-01-01T00:00:00Z' });
    expect(memory.merges).toEqual([
      expect.objectContaining({ name: 'Ada Lovelace', mention: 'lady  lovelace', type: 'Person' }),
    ]);
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Paris']);

    const [{ merge_id }] = memory.merges;
    const undone = await workspace.gateway.post('/v1/undo-merge', { merge_id });
    expect([undone.status, undone.body]).toEqual([200, expect.objectContaining({ moved: 1, restored: 1 })]);
    const rows = await facts(workspace);
    expect(said(rows)).toEqual(['Ada Lovelace city Berlin', 'lady  lovelace city Paris']);
    expect(rows[0].fact.valid_to).toBeNull();
    expect(rows[1].id).toBe(undone.body.entity_id);
    const again = await workspace.gateway.post('/v1/undo-merge', { merge_id });
    expect(again.body).toMatchObject({ entity_id: undone.body.entity_id });

    await remembered(workspace, { text: inParis, at: '2025-02-01T00:00:00Z' });
    expect(said(await facts(workspace))).toEqual(['Ada Lovelace city Berlin', 'lady  lovelace city Paris']);
    const other = await product.workspace(berlin);
    expect((await other.gateway.post('/v1/undo-merge', { merge_id })).status).toBe(404);
  });
});
