import { expect, test } from '@jest/globals';
import { sendJson } from '../../../support/fake-model.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { facts, livesIn, remembered, said, useMemoryProduct } from './memory-product.js';

const product = useMemoryProduct(useDeps());
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
