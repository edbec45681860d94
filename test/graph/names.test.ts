import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../src/domain/tools/query-context.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { expectSources, readWorld } from '../support/world.js';
import { call, contextOf, toolWith } from './tool-call.js';

interface NameCase {
  /** The name of an entity. */
  name: string;
  source: string;
  /** Each of them must find the entity first. */
  questions: string[];
}

const world = readWorld<NameCase>('graph');
const cases = world.cases.filter(({ file }) => file === 'names');
const deps = useDeps();
const save = toolWith(deps, saveContext);
const query = toolWith({ ...deps, redact: (answer) => Promise.resolve(answer) }, queryContext);
const ctx = contextOf();
const ask = (text: string): Promise<any> => call(query, ctx, { query: text, limit: 5, timeout_ms: 30_000 });

beforeAll(async () => {
  await prepareGraph(deps.graph);
  const entities = cases.map(({ name }, at) => ({ id: `n${at}`, type: 'Thing', name, properties: { at } }));
  for (let from = 0; from < entities.length; from += 250)
    await call(save, ctx, { entities: entities.slice(from, from + 250) });
});

describe('an entity is found first', () => {
  test('has many kinds of names', () => {
    expectSources(
      world,
      cases.map(({ name, source }) => ({ title: name, source })),
      { files: 1, cases: 300 },
    );
  });

  test('by its name, by another spelling, and by its name within a sentence', async () => {
    verifies('graph.search.exact-names');
    const wrong: object[] = [];
    const asked = cases.flatMap(({ name, questions }) => questions.map((question) => ({ name, question })));
    const lane = async () => {
      for (let next = asked.pop(); next; next = asked.pop()) {
        const answer = await ask(next.question);
        const found = answer.entities.map((entity: any) => entity.name);
        // Names are stored in NFC.
        if (found[0] !== next.name.normalize('NFC')) wrong.push({ ...next, found });
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    expect(wrong).toEqual([]);
  });
});
