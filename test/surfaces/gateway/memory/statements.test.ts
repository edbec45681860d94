import { describe, expect, test } from '@jest/globals';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { facts, remembered, said, textOf, useMemoryProduct, type Remembering } from './memory-product.js';

const deps = useDeps();
const product = useMemoryProduct(deps);

const open = { properties: {}, open: true };
const ontology = {
  entity_types: { Person: open, Company: open },
  relationship_types: {
    WORKS_AT: { from: ['Person'], to: ['Company'] },
    KNOWS: {},
    MARRIED_TO: { single_valued: true },
  },
};
const person = (name: string, more: object = {}) => ({ type: 'Person', name, quote: name, ...more });
const company = (name: string) => ({ type: 'Company', name, quote: name });
const relation = (from: string, type: string, to: string, more: object = {}) => ({
  from,
  type,
  to,
  quote: from,
  ...more,
});

/** A project whose model answers each text with the answer of the first word that the text contains. */
function answering(answers: Record<string, object>): Promise<Remembering> {
  const answerTo = (asked: string) => Object.entries(answers).find(([word]) => asked.includes(word))?.[1] ?? {};
  return product.workspace((asked) => answerTo(asked.split('\n').slice(1).join('\n')), { ontology });
}

async function post({ gateway }: Remembering, path: string, body: object): Promise<any> {
  const answer = await gateway.post(`/v1/${path}`, body);
  expect([answer.status, answer.body.error_description]).toEqual([200, undefined]);
  return answer.body;
}

/** The relationships that are valid now or at a time, as `from TYPE to`. */
async function edges(workspace: Remembering, as_of?: string): Promise<string[]> {
  const query = `MATCH (a:Entity)-[r]->(b:Entity) WHERE a.project_id = $project_id
    RETURN a.name + ' ' + type(r) + ' ' + b.name AS said ORDER BY said`;
  const { rows } = await post(workspace, 'query-context', { query, ...(as_of !== undefined && { as_of }) });
  return rows.map((row: any) => row.said);
}

const [inMay, inJune, inJuly] = ['2026-05-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-07-01T00:00:00Z'];

describe('relationships that a text states', () => {
  const annAtAcme = {
    entities: [person('Ann'), company('Acme')],
    relationships: [relation('Ann', 'WORKS_AT', 'Acme')],
  };
  const annLeft = { ...annAtAcme, relationships: [relation('Ann', 'WORKS_AT', 'Acme', { valid_to: '2026-06-01' })] };

  test('are relationships as well as facts, and the answer to a question names their ends', async () => {
    verifies('memory.edges', 'gateway.query.object-names');
    const workspace = await answering({ 'works at': annAtAcme });
    const memory = await remembered(workspace, { text: 'Ann works at Acme.', at: inMay });
    expect(memory.written).toMatchObject({ entities: 2, facts: 1, relationships: 1, unchanged: 0 });
    expect(await edges(workspace)).toEqual(['Ann WORKS_AT Acme']);
    const { facts: found } = await post(workspace, 'query-context', { query: 'Where does Ann work?' });
    expect(found).toMatchObject([{ predicate: 'WORKS_AT', object_name: 'Acme' }]);
    const again = await remembered(workspace, { text: 'Ann works at Acme.', at: inMay });
    expect(again.written).toMatchObject({ facts: 0, relationships: 0, unchanged: 1 });
  });

  test('end with their facts, and the memory counts it', async () => {
    verifies('memory.ends', 'memory.edges');
    const workspace = await answering({ 'works at': annAtAcme, left: annLeft });
    await remembered(workspace, { text: 'Ann works at Acme.', at: inMay });
    const memory = await remembered(workspace, { text: 'Ann left Acme in June.', at: inJuly });
    expect(memory.written).toMatchObject({ facts: 0, closed: 0, ended: 1, unchanged: 0 });
    expect([await edges(workspace), await facts(workspace)]).toEqual([[], []]);
    expect(await edges(workspace, '2026-05-15T00:00:00Z')).toEqual(['Ann WORKS_AT Acme']);
    const [asked] = product.model.asked(workspace.model);
    expect(JSON.stringify(asked?.body)).toContain('no longer holds');
    expect(textOf(asked!)).toContain('Ann works');
  });

  test('end a relationship that another save wrote, and an undone merge opens it again', async () => {
    verifies('memory.ends', 'memory.edges', 'memory.undo-merge');
    const workspace = await answering({
      left: {
        entities: [person('ANN', { quote: 'Ann' }), company('Acme')],
        relationships: [relation('ANN', 'WORKS_AT', 'Acme', { quote: 'Ann left', valid_to: 'now' })],
      },
    });
    const entities = [
      { id: 'ann', type: 'Person', name: 'Ann' },
      { id: 'acme', type: 'Company', name: 'Acme' },
    ];
    await post(workspace, 'save-context', { entities, relationships: [{ from: 'ann', type: 'WORKS_AT', to: 'acme' }] });
    const memory = await remembered(workspace, { text: 'Ann left Acme today.' });
    expect(await edges(workspace)).toEqual([]);
    const merge = memory.merges.find(({ entity_id }: any) => entity_id === 'ann');
    await post(workspace, 'undo-merge', { merge_id: merge.merge_id });
    expect(await edges(workspace)).toEqual(['Ann WORKS_AT Acme']);
  });

  test('move with an undone merge', async () => {
    verifies('memory.edges', 'memory.undo-merge');
    const workspace = await answering({ 'works at': annAtAcme });
    await post(workspace, 'save-context', { entities: [{ id: 'ann', type: 'Person', name: 'Ann' }] });
    const memory = await remembered(workspace, { text: 'Ann works at Acme.', at: inMay });
    const { entity_id } = await post(workspace, 'undo-merge', { merge_id: memory.merges[0].merge_id });
    const query = 'MATCH (a:Entity)-[r]->(b:Entity) WHERE a.project_id = $project_id RETURN a.id AS id, b.name AS name';
    const { rows } = await post(workspace, 'query-context', { query });
    expect(rows).toEqual([{ id: entity_id, name: 'Acme' }]);
  });

  test('and lists of them are all kept, unless a type has one', async () => {
    verifies('memory.lists', 'memory.edges');
    const people = ['Ann', 'Bob', 'Cy', 'Dee'].map((name) => person(name));
    const knows = ['Bob', 'Cy', 'Dee'].map((name) => relation('Ann', 'KNOWS', name));
    const hobbies = ['chess', 'golf'].map((object) => ({ subject: 'Ann', predicate: 'hobby', object, quote: object }));
    const workspace = await answering({
      hobbies: { entities: people, relationships: knows, facts: hobbies },
      'married Bob': { entities: people, relationships: [relation('Ann', 'MARRIED_TO', 'Bob')] },
      'married Cy': { entities: people, relationships: [relation('Ann', 'MARRIED_TO', 'Cy')] },
    });
    const text = 'Ann knows Bob, Cy and Dee. Her hobbies are chess and golf.';
    const memory = await remembered(workspace, { text, at: inMay });
    expect(memory.written).toMatchObject({ facts: 5, relationships: 3, closed: 0 });
    expect(said(await facts(workspace)).filter((each) => each.includes('hobby'))).toEqual([
      'Ann hobby chess',
      'Ann hobby golf',
    ]);
    const names = 'Ann, Bob, Cy and Dee.';
    await remembered(workspace, { text: `${names} Ann married Bob.`, at: inMay });
    await remembered(workspace, { text: `${names} Ann married Cy.`, at: inJuly });
    const knowing = ['Ann KNOWS Bob', 'Ann KNOWS Cy', 'Ann KNOWS Dee'];
    expect(await edges(workspace)).toEqual([...knowing, 'Ann MARRIED_TO Cy']);
    expect(await edges(workspace, inJune)).toEqual([...knowing, 'Ann MARRIED_TO Bob']);
  });
});

describe('names that meet', () => {
  test('a mention finds an imported entity, and one of two with its name is not chosen', async () => {
    verifies('memory.names');
    const text = 'ACME CORP hired John Smith.';
    const workspace = await answering({
      hired: {
        entities: [company('ACME CORP'), person('John Smith', { properties: { role: 'clerk' } })],
        facts: [{ subject: 'ACME CORP', predicate: 'size', object: 5, quote: 'hired' }],
      },
    });
    const john = { type: 'Person', name: 'John Smith' };
    const entities = [
      { id: 'crm', type: 'Company', name: 'Acme  Corp' },
      { id: 'js1', ...john },
      { id: 'js2', ...john },
    ];
    await post(workspace, 'save-context', { entities });
    const { written, merges } = await remembered(workspace, { text, at: inMay });
    expect(merges).toMatchObject([{ entity_id: 'crm' }]);
    expect(written).toMatchObject({ entities: 0, facts: 1, ambiguous: 1, dropped: 2 });
    expect(said(await facts(workspace))).toEqual(['Acme  Corp size 5']);

    const fact = { predicate: 'city', object: 'Rome' };
    for (const body of [
      { facts: [{ ...fact, subject: john }] },
      { facts: [{ ...fact, subject: 'js1', object: { ...john, name: 'john smith' } }] },
      { entities: [john] },
      { relationships: [{ from: john, type: 'KNOWS', to: 'js1' }] },
      { entities: entities.slice(1), relationships: [{ from: 'John Smith', type: 'KNOWS', to: 'js1' }] },
    ]) {
      const { status, body: refused } = await workspace.gateway.post('/v1/save-context', body);
      expect([status, refused.error_description]).toEqual([
        422,
        expect.stringMatching(/two entities have this name: use an id \(js[12], js[12]\)/),
      ]);
    }
  });
});

describe('a property that facts state', () => {
  test('has the value of the current fact, in texts and in saves', async () => {
    verifies('gateway.save-context.properties');
    const olga = (city: string, more: object = {}) => ({
      entities: [person('Olga', { properties: { city }, ...more })],
    });
    const workspace = await answering({ Kyiv: olga('Kyiv'), Lima: olga('Lima'), Oslo: olga('Oslo') });
    const cityNow = async () => {
      const query = 'MATCH (n:Person) WHERE n.project_id = $project_id RETURN n.city AS city';
      return (await post(workspace, 'query-context', { query })).rows[0].city;
    };
    await remembered(workspace, { text: 'Olga in Kyiv', at: inJune });
    await remembered(workspace, { text: 'Olga in Lima', at: inJuly });
    expect(await cityNow()).toBe('Lima');
    await remembered(workspace, { text: 'Olga in Oslo', at: inMay });
    expect(await cityNow()).toBe('Lima');
    expect(said(await facts(workspace, '2026-06-15T00:00:00Z'))).toEqual(['Olga city Kyiv']);
    const subject = { type: 'Person', name: 'olga' };
    await post(workspace, 'save-context', { facts: [{ subject, predicate: 'city', object: 'Rome' }] });
    expect(await cityNow()).toBe('Rome');
    const end = { subject, predicate: 'city', object: 'Rome', valid_to: Date.now() / 1000 };
    const { changes } = await post(workspace, 'save-context', { facts: [end] });
    expect([changes.facts.ended, await cityNow()]).toEqual([1, null]);
  });
});
