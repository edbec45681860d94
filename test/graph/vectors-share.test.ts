import { beforeAll, describe, expect, test } from '@jest/globals';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { retrieve } from '../../src/graph/query/retrieve.js';
import { createGeneration, generationOf, vectorLabel } from '../../src/graph/vectors/generation.js';
import { createNearestByText, maxExact } from '../../src/graph/vectors/nearest.js';
import { scopeTerm } from '../../src/graph/store/names.js';
import { newId } from '../../src/base/ids.js';
import { sizeOf } from '../requirements/full-forms.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';

/**
 * The vectors are invented, so this test does not measure the quality of results. It proves only that other projects do
 * not change them.
 */
const deps = useDeps();
const { driver } = deps.graph;
const generation = generationOf({ model: `share-${newId()}`, dimensions: 16 });
const nodes = sizeOf('SHARE_NODES');
const [large, small] = [newId(), newId()];
const batch = 5000;
const questions = 25;
const limit = 10;

/** Returns numbers from -1 to 1 that are the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state / 2_147_483_648) * 2 - 1;
  };
}
const vectorFrom = (random: () => number) => Array.from({ length: 16 }, random);
const words = 'bee garden depot contract storm tree school horse song bridge market river'.split(' ');

/** Returns three words that are the same for each position. */
const textOf = (at: number, seed: number) =>
  [1, 5, 7].map((step) => words[(at * step + seed) % words.length]).join(' ');

async function fill(projectId: string, count: number, seed: number): Promise<number[][]> {
  const random = randomFrom(seed);
  const vectors = Array.from({ length: count }, () => vectorFrom(random));
  await driver.executeQuery('MERGE (s:ProjectState {key: $projectId}) SET s.embedding_generation = $generation', {
    projectId,
    generation: generation.id,
  });
  for (let from = 0; from < count; from += batch) {
    const rows = vectors
      .slice(from, from + batch)
      .map((vector, at) => ({ id: `n${from + at}`, vector, text: textOf(from + at, seed) }));
    await driver.executeQuery(
      `UNWIND $rows AS row
       CREATE (:Entity:_Scoped {project_id: $projectId, id: row.id, type: 'Note', name: row.id, _search: row.text, _words: row.text, _scope: $scope, _names: [], _times: [], _recorded_at: 0})
       CREATE (v:_Vector:${vectorLabel(generation.id)} {element: $projectId + row.id, generation: $generation, project: $projectId, kind: 'entity', id: row.id})
       WITH v, row CALL db.create.setNodeVectorProperty(v, 'embedding', row.vector)`,
      { rows, projectId, generation: generation.id, scope: scopeTerm(projectId) },
    );
  }
  return vectors;
}

const cosine = (a: readonly number[], b: readonly number[]) => {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};

describe('a project with 1 % of all nodes', () => {
  let vectors: number[][];
  beforeAll(async () => {
    await prepareGraph(deps.graph);
    await createGeneration(deps.graph, generation);
    await fill(large, nodes, 1);
    vectors = await fill(small, nodes / 100, 2);
    await driver.executeQuery('CALL db.awaitIndexes(300)');
  }, 1_800_000);

  test.each([
    ['as it is', maxExact],
    ['through the index of all projects', limit],
  ])('finds by vectors the same entities as brute force: %s', async (_, exactUpTo) => {
    verifies('embeddings.share');
    const random = randomFrom(3);
    let found = 0;
    for (let question = 0; question < questions; question += 1) {
      const vector = vectorFrom(random);
      const nearest = createNearestByText({
        graph: deps.graph,
        embed: async () => vector,
        isConfigured: true,
        reasonOf: () => undefined,
        exactUpTo,
      });
      const answer = await nearest(small, 'anything', limit, { timeoutMs: 30_000 });
      const best = vectors
        .map((each, at) => ({ id: `n${at}`, score: cosine(each, vector) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, limit)
        .map(({ id }) => id);
      const hits = 'hits' in answer ? answer.hits.map(({ id }) => id) : [];
      expect(hits).toHaveLength(limit);
      found += best.filter((id) => hits.includes(id)).length;
    }
    expect(found / (questions * limit)).toBeGreaterThanOrEqual(0.98);
  });

  test('finds by text all of its own entities with the word, and nothing else', async () => {
    verifies('embeddings.share');
    const consumed = { lifecycle_id: newId(), run: null, at: 1 };
    for (const word of words) {
      const question = {
        text: word,
        projectIds: [small],
        organizationId: small,
        asOf: undefined,
        limit: 200,
        timeoutMs: 30_000,
      };
      const { entities } = await retrieve(deps.graph, question, consumed);
      expect(new Set(entities.map(({ project_id }) => project_id))).toEqual(new Set([small]));
      const having = vectors.map((_, at) => `n${at}`).filter((_id, at) => textOf(at, 2).includes(word));
      const found = having.filter((id) => entities.some((entity) => entity.id === id));
      expect([word, found.length]).toEqual([word, Math.min(having.length, question.limit)]);
    }
  });
});
