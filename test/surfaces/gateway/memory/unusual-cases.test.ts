import { describe, expect, test } from '@jest/globals';
import { connect, createServer, type Socket } from 'node:net';
import { decideMemoryUpdate, rememberWorkflowId } from '../../../../workflows/remember/messages.js';
import { eventually } from '../../../support/eventually.js';
import { sendJson } from '../../../support/fake-model.js';
import { useDeps } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { ownProduct } from '../../../support/own-product.js';
import { listen } from '../../../support/ports.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import {
  facts,
  livesIn,
  memoryOf,
  reached,
  remember,
  remembered,
  said,
  useMemoryProduct,
  type Remembering,
} from './memory-product.js';

const deps = useDeps();
const product = useMemoryProduct(deps);

describe('an answer of the model', () => {
  const text = 'Paris Hilton stayed in Paris.';
  const open = { entity_types: { Person: { properties: {}, open: true }, City: { properties: {}, open: true } } };

  test('an open type gets no property that save-context refuses', async () => {
    verifies('memory.schema');
    const properties = { _until: 1, _since: 9e9, _search: 'spam', project_id: 'other', 'a`b': 1, nickname: 'Star' };
    const workspace = await product.workspace(
      () => ({ entities: [{ type: 'Person', name: 'Paris Hilton', quote: 'Paris Hilton', properties }] }),
      { ontology: open },
    );
    await remembered(workspace, { text });
    expect(said(await facts(workspace))).toEqual(['Paris Hilton nickname Star']);
    const { body } = await workspace.gateway.post('/v1/query-context', { query: 'Who is Paris Hilton?' });
    expect(body.entities).toMatchObject([{ name: 'Paris Hilton', properties: { nickname: 'Star' } }]);
  });

  test('a value that is nested too deeply is omitted, even if the model writes it as text', async () => {
    verifies('memory.schema');
    const workspace = await product.workspace(() => ({}), { ontology: open });
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const content = `{"entities": [{"type": "City", "name": "Paris", "quote": "Paris", "properties": {"deep": ${deep}, "size": 2}}]}`;
    product.model.on(workspace.model, (res) =>
      sendJson(res, 200, { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }] }),
    );
    await remembered(workspace, { text });
    expect(said(await facts(workspace))).toEqual(['Paris size 2']);
  });

  test('the items after the first 300 of a list are counted', async () => {
    verifies('memory.span');
    const [quote, name] = ['Paris', 'Paris'];
    const fact = { subject: name, predicate: 'river', object: 'Seine', quote };
    const workspace = await product.workspace(
      () => ({
        entities: Array.from({ length: 301 }, () => ({ type: 'City', name, quote })),
        facts: Array.from({ length: 302 }, () => fact),
      }),
      { ontology: open },
    );
    expect(await remembered(workspace, { text })).toMatchObject({
      found: { entities: 1, facts: 300, without_span: 0, outside_ontology: 0, beyond_limit: 3 },
    });
  });

  test('the merges after the first 200 are counted', async () => {
    verifies('memory.merge');
    const numbers = Array.from({ length: 201 }, (_, at) => at + 1000);
    const textOf = (word: string) => `${numbers.map((number) => `${word} ${number}`).join(', ')}.`;
    const cities = (word: string) =>
      numbers.map((number) => ({
        type: 'City',
        name: `${word} ${number}`,
        quote: `${word} ${number}`,
        aliases: [`Town ${number}`],
      }));
    const workspace = await product.workspace(
      (asked) => ({ entities: cities(asked.includes('Town 1000,') ? 'Town' : 'City') }),
      { ontology: open },
    );
    expect(await remembered(workspace, { text: textOf('City') })).toMatchObject({ merge_count: 0, merges: [] });
    const { merge_count, merges } = await remembered(workspace, { text: textOf('Town') });
    expect([merge_count, merges.length]).toEqual([201, 200]);
  });

  test('two types may share a name, and the model may name one entity twice', async () => {
    verifies('memory.remember');
    const ontology = {
      entity_types: {
        Person: { properties: { hobby: { type: 'string' }, age: { type: 'number' } } },
        City: { properties: { river: { type: 'string' } } },
      },
      relationship_types: { STAYED_IN: { from: ['Person'], to: ['City'] } },
    };
    const [quote, name] = ['Paris', 'Paris'];
    const workspace = await product.workspace(
      () => ({
        entities: [
          { type: 'Person', name, quote, properties: { age: 40 } },
          { type: 'City', name, quote },
          { type: 'Person', name, quote, properties: { hobby: 'travel' } },
        ],
        facts: [{ subject: 'Paris', predicate: 'river', object: 'Seine', quote }],
        relationships: [{ from: 'Paris', type: 'STAYED_IN', to: 'Paris', quote: 'stayed in Paris' }],
      }),
      { ontology },
    );
    const memory = await remembered(workspace, { text });
    expect(memory).toMatchObject({ found: { entities: 2, facts: 4 }, written: { entities: 2, facts: 4, dropped: 0 } });
    const query = 'MATCH (e:Entity) WHERE e.project_id = $project_id RETURN e ORDER BY e.type';
    const { body } = await workspace.gateway.post('/v1/query-context', { query });
    expect(body.entities).toMatchObject([
      { type: 'City', properties: {} },
      { type: 'Person', properties: { age: 40, hobby: 'travel' } },
    ]);
  });

  test.each([
    ['2023-05-06', '2023-05-06T00:00:00Z'],
    ['2023-05-06T10:00', '2023-05-06T10:00:00Z'],
    ['2023-05-06 10:00:30', '2023-05-06T10:00:30Z'],
    ['2023-05-06T10:00:00+02:00', '2023-05-06T08:00:00Z'],
  ])('the time %s is read as %s', async (valid_from, meant) => {
    const quote = 'Ada Lovelace lives in Berlin.';
    const { entities, facts: found } = livesIn('Ada Lovelace', 'Berlin', quote);
    const workspace = await product.workspace(() => ({
      entities,
      facts: found.map((fact) => ({ ...fact, valid_from })),
    }));
    await remembered(workspace, { text: quote, at: '2024-01-01T00:00:00Z' });
    expect((await facts(workspace))[0].fact.valid_from).toBe(Date.parse(meant) / 1000);
  });

  test('a fact of which the text names only the end is not valid any more', async () => {
    const quote = 'Ada Lovelace lived in Berlin until May 2020.';
    const { entities, facts: found } = livesIn('Ada Lovelace', 'Berlin', quote);
    const workspace = await product.workspace(() => ({
      entities,
      facts: found.map((fact) => ({ ...fact, valid_to: '2020-05-01' })),
    }));
    await remembered(workspace, { text: quote, at: '2024-01-01T00:00:00Z' });
    expect(await facts(workspace)).toEqual([]);
    const { body } = await workspace.gateway.post('/v1/query-context', {
      query: 'MATCH (f:Fact) WHERE f.project_id = $project_id RETURN f',
      as_of: Date.parse('2020-05-01') / 1000 - 0.0005,
    });
    expect(body.facts).toMatchObject([{ predicate: 'city', object: 'Berlin' }]);
  });

  test('finds a quote whose line ends the model has changed', async () => {
    verifies('memory.span');
    const workspace = await product.workspace(() =>
      livesIn('Ada (Lovelace)', 'Berlin', 'Ada (Lovelace)\nlives in Berlin.'),
    );
    const address = 'Address:\r\nAda (Lovelace)\r\nlives in  Berlin. Thanks';
    expect(await remembered(workspace, { text: address })).toMatchObject({ found: { facts: 1, without_span: 0 } });
    const { start, end } = (await facts(workspace))[0].fact.provenance.span;
    expect(address.slice(start, end)).toBe('Ada (Lovelace)\r\nlives in  Berlin.');
  });
});

describe('POST /v1/undo-merge', () => {
  const inBerlin = 'Ada Lovelace lives in Berlin.';
  const aka = { aliases: ['Lady Lovelace'] };

  /** A project that knows since 2020 that Ada lives in Berlin. The model answers later texts with `answer`. */
  async function knownAda(answer: (asked: string) => object): Promise<Remembering> {
    const workspace = await product.workspace((asked) =>
      asked.includes('Berlin') ? livesIn('Ada Lovelace', 'Berlin', inBerlin, aka) : answer(asked),
    );
    await remembered(workspace, { text: inBerlin, at: '2020-01-01T00:00:00Z' });
    return workspace;
  }

  /** Undoes the only merge of the memory. */
  async function undo({ gateway }: Remembering, { merges }: any): Promise<any> {
    const { status, body } = await gateway.post('/v1/undo-merge', { merge_id: merges[0].merge_id });
    expect([status, merges.length]).toEqual([200, 1]);
    return body;
  }

  test('a fact that was written after the memory keeps its time, and the others get all of theirs', async () => {
    verifies('memory.undo-merge');
    const workspace = await knownAda(() => livesIn('Lady Lovelace', 'Paris', 'Lady Lovelace moved to Paris'));
    const memory = await remembered(workspace, { text: 'Lady Lovelace moved to Paris.', at: '2021-01-01T00:00:00Z' });
    const inRome = {
      predicate: 'city',
      object: 'Rome',
      valid_from: '2022-01-01T00:00:00Z',
      valid_to: '2023-01-01T00:00:00Z',
    };
    const subject = { type: 'Person', name: 'Ada Lovelace' };
    await workspace.gateway.post('/v1/save-context', { facts: [{ subject, ...inRome }] });

    expect(await undo(workspace, memory)).toMatchObject({ moved: 1, restored: 1 });
    const [paris, berlin] = ['Lady Lovelace city Paris', 'Ada Lovelace city Berlin'];
    expect(said(await facts(workspace, '2020-06-01T00:00:00Z'))).toEqual([berlin]);
    expect(said(await facts(workspace, '2021-06-01T00:00:00Z'))).toEqual([berlin, paris]);
    expect(said(await facts(workspace, '2022-06-01T00:00:00Z'))).toEqual(['Ada Lovelace city Rome', paris]);
    expect(said(await facts(workspace))).toEqual([berlin, paris]);
  });

  test('a fact that two parts of the memory shortened is whole again', async () => {
    verifies('memory.undo-merge');
    const quote = 'Lady Lovelace moved';
    const stay = (city: string, valid_from: string, valid_to: string) => {
      const {
        entities,
        facts: [fact],
      } = livesIn('Lady Lovelace', city, quote);
      return { entities, facts: [{ ...fact, valid_from, valid_to }] };
    };
    const workspace = await knownAda((asked) =>
      asked.includes('Paris') ? stay('Paris', '2021-01-01', '2022-01-01') : stay('Rome', '2023-01-01', '2024-01-01'),
    );
    const text = `${quote} to Paris. ${'Nothing of interest here. '.repeat(250)}${quote} to Rome.`;
    const memory = await remembered(workspace, { text, at: '2021-01-01T00:00:00Z' });
    expect(memory).toMatchObject({ parts: { written: 2 }, written: { facts: 2, closed: 2 } });

    expect(await undo(workspace, memory)).toMatchObject({ moved: 2, restored: 1 });
    const rows = await facts(workspace);
    expect(said(rows)).toEqual(['Ada Lovelace city Berlin']);
    expect(rows[0].fact).toMatchObject({ valid_from: Date.parse('2020-01-01') / 1000, valid_to: null });
    for (const [city, as_of] of [
      ['Paris', '2021-06-01T00:00:00Z'],
      ['Rome', '2023-06-01T00:00:00Z'],
    ])
      expect(said(await facts(workspace, as_of))).toEqual(['Ada Lovelace city Berlin', `Lady Lovelace city ${city}`]);
  });
});

describe('a memory whose process is killed', () => {
  const overrides: Record<string, string> = {};
  const dying = ownProduct(overrides);
  const text = 'Ada Lovelace lives in Berlin.';

  /** Temporal as one process reaches it. Once it is frozen, it receives nothing from that process. */
  async function startFreezableTemporal() {
    const [host, port] = (testRun().env.TEMPORAL_ADDRESS ?? '').split(':');
    const sockets = new Set<Socket>();
    let isFrozen = false;
    const relay = createServer((client) => {
      const server = connect(Number(port), host);
      for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined));
      if (!isFrozen) client.pipe(server).pipe(client);
    });
    const { port: ownPort } = await listen(relay);
    return {
      address: `127.0.0.1:${ownPort}`,
      close() {
        relay.close();
        for (const socket of sockets) socket.destroy();
      },
      freeze() {
        isFrozen = true;
        for (const socket of sockets) socket.unpipe();
      },
    };
  }

  test('a memory whose API process is killed before it starts the workflow is started by a worker', async () => {
    verifies('memory.unstarted');
    const workspace = await product.workspace(() => livesIn('Ada Lovelace', 'Berlin', text));
    const temporal = await startFreezableTemporal();
    Object.assign(overrides, { LLM_BASE_URL: product.model.url, TEMPORAL_ADDRESS: temporal.address });
    const api = await dying.api();
    temporal.freeze();
    const { memories } = deps.mongo.collections;
    const unanswered = bearerClient(workspace.apiKey, api.url).post('/v1/remember', { text });
    const killed = expect(unanswered).rejects.toThrow();
    const memory = await eventually(async () => {
      const found = await memories.findOne({ project_id: workspace.projectID });
      if (!found) throw new Error('there is no record yet');
      return found;
    });
    await api.end('SIGKILL');
    await killed;
    temporal.close();

    const run = deps.temporal.client.workflow.getHandle(rememberWorkflowId(memory._id));
    await expect(run.describe()).rejects.toThrow('not found');
    expect(await memoryOf(workspace, memory._id)).toMatchObject({ status: 'queued' });
    await memories.updateOne({ _id: memory._id }, { $inc: { created_at: -3600 } });
    await eventually(() => run.describe());
    await eventually(async () => expect((await memoryOf(workspace, memory._id)).status).not.toBe('queued'));
  });

  test('a memory that is approved and then cancelled while no worker runs is cancelled, not rejected', async () => {
    verifies('memory.cancel');
    const workspace = await product.workspace(() => livesIn('Ada Lovelace', 'Berlin', text));
    const { memory_id } = await remember(workspace, { text, review: true });
    await reached(workspace, memory_id, 'waiting');
    await product.worker.end('SIGKILL');
    const handle = deps.temporal.client.workflow.getHandle(rememberWorkflowId(memory_id));
    const decide = (decision: 'approve' | 'cancel') =>
      handle.executeUpdate(decideMemoryUpdate, { args: [{ decision, by: workspace.userId }] });
    const approved = decide('approve');
    await handle.describe();
    const cancelled = decide('cancel');
    product.worker = await product.product.worker();
    expect(await Promise.all([approved, cancelled])).toEqual(['running', 'cancelled']);
    await reached(workspace, memory_id, 'cancelled');
    expect(await facts(workspace)).toEqual([]);
  });
});
