import { beforeAll, describe, expect, test } from '@jest/globals';
import { embedNext } from '../../src/domain/embedding/embed-next.js';
import { readDocs } from '../../src/domain/tools/docs.js';
import { queryContext } from '../../src/domain/tools/query-context.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { commitOntology } from '../../src/graph/ontology/commit.js';
import { lockProject } from '../../src/graph/ontology/state.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { removeEntities } from '../../src/graph/store/remove.js';
import { inWriteTransaction } from '../../src/graph/store/sessions.js';
import { createGeneration, generationOf } from '../../src/graph/vectors/generation.js';
import { maxExact } from '../../src/graph/vectors/nearest.js';
import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import { beginGeneration } from '../../src/graph/vectors/state.js';
import { readEmbeddingReport } from '../../src/graph/vectors/report.js';
import type { Deps } from '../../src/domain/deps.js';
import { newId } from '../../src/base/ids.js';
import { sendError, sendVectors, useEmbeddingEndpoint } from '../support/embedding-endpoint.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { call, contextOf, toolWith } from './tool-call.js';

const endpoint = await useEmbeddingEndpoint();
const settings = { EMBEDDING_BASE_URL: endpoint.baseUrl, EMBEDDING_MODEL: 'words', EMBEDDING_DIMENSIONS: '16' };
const deps = useDeps({ ...settings, EMBEDDING_REQUESTS_PER_SECOND: '1000' });
const withoutEndpoint = useDeps();
const save = (ctx: ReturnType<typeof contextOf>, input: object, of: Deps = deps) =>
  call(toolWith(of, saveContext), ctx, input);
const signal = new AbortController().signal;

beforeAll(() => prepareGraph(deps.graph));

/** All of a project's work, as the workflow does it. */
async function embedAll({ projectId, organizationId }: ReturnType<typeof contextOf>, of: Deps = deps): Promise<any> {
  const totals: Record<string, number> = { embedded: 0, unchanged: 0, removed: 0, refused: 0 };
  for (;;) {
    const request = { project_id: projectId, organization_id: organizationId, charge_key: newId() };
    const { done, ...slice } = await embedNext(of, request, signal);
    for (const [name, count] of Object.entries(slice)) totals[name] = (totals[name] ?? 0) + count;
    if (done) return totals;
  }
}

async function rows(query: string, parameters: object): Promise<any[]> {
  const { records } = await deps.graph.driver.executeQuery(query, parameters);
  return records.map((record) => record.toObject());
}
const vectorsOf = ({ projectId }: { projectId: string }) =>
  rows('MATCH (v:_Vector {project: $projectId}) RETURN v.kind AS kind, v.id AS id, v.generation AS generation', {
    projectId,
  });
const notesOf = async ({ projectId }: { projectId: string }) =>
  (
    await rows(
      `RETURN COUNT { MATCH (n:_Unembedded {project_id: $projectId}) } + COUNT { MATCH (l:_UnembeddedLink {project: $projectId}) } AS notes`,
      { projectId },
    )
  )[0].notes;
const ids = (answer: any) => answer.hits?.map(({ id }: any) => id);

const world = {
  entities: [
    { id: 'ada', type: 'Person', name: 'Ada Lovelace', properties: { about: 'wrote the first program' } },
    { id: 'grace', type: 'Person', name: 'Grace Hopper', properties: { about: 'built the first compiler' } },
  ],
  relationships: [
    { from: 'ada', type: 'ADMIRES', to: 'grace', properties: { because: 'a shared love of engines' } },
    { from: 'grace', type: 'KNOWS', to: 'ada', properties: { since: 1950 } },
  ],
  facts: [{ subject: 'ada', predicate: 'lives in', object: 'London' }],
};

describe('embedding what was saved', () => {
  test('happens after the write, for entities, facts and relationships with text, and is charged', async () => {
    verifies('embeddings.after-the-write', 'embeddings.charged');
    const ctx = contextOf();
    await save(ctx, world);
    expect(endpoint.texts()).toEqual([]);
    expect(await deps.nearestByText(ctx.projectId, 'program', 5)).toEqual({
      unavailable: 'the project is not embedded yet',
    });
    expect(await embedAll(ctx)).toMatchObject({ embedded: 4 });
    expect((await vectorsOf(ctx)).map(({ kind }) => kind).sort()).toEqual(['entity', 'entity', 'fact', 'relationship']);
    expect(await notesOf(ctx)).toBe(0);
    const found = (await deps.nearestByText(ctx.projectId, 'a shared love of engines', 1)) as any;
    expect(found.hits).toMatchObject([{ kind: 'relationship' }]);
    expect(ids(await deps.nearestByText(ctx.projectId, 'built the first compiler', 1))).toEqual(['grace']);
    const ledger = await deps.mongo.collections.credit_history.find({ project_id: ctx.projectId }).toArray();
    expect(ledger).toMatchObject([{ kind: 'model_turn', model: 'words', input_tokens: 12, credits: 0 }]);
  });

  test('leaves no notes without an endpoint, and catches up when there is one', async () => {
    verifies('embeddings.after-the-write');
    const ctx = contextOf();
    await save(ctx, world, withoutEndpoint);
    expect(await notesOf(ctx)).toBe(0);
    expect(await withoutEndpoint.nearestByText(ctx.projectId, 'engines', 3)).toEqual({
      unavailable: 'no embedding endpoint is configured',
    });
    await embedAll(ctx);
    expect(await vectorsOf(ctx)).toHaveLength(4);
  });

  test('sends only texts that changed', async () => {
    verifies('embeddings.by-content');
    const ctx = contextOf();
    await save(ctx, world);
    await embedAll(ctx);
    const before = endpoint.texts().length;
    await save(ctx, { ...world, facts: [{ ...world.facts[0], valid_from: 100 }] });
    await embedAll(ctx);
    expect(endpoint.texts()).toHaveLength(before);
    await save(ctx, { entities: [{ id: 'ada', type: 'Person', name: 'Ada King', properties: {} }] });
    await embedAll(ctx);
    expect(endpoint.texts().slice(before)).toEqual(['Person Ada King about wrote the first program']);
    expect(await vectorsOf(ctx)).toHaveLength(4);
  });

  test('does not write the vector of a text that changed meanwhile', async () => {
    verifies('embeddings.by-content');
    const ctx = contextOf();
    await save(ctx, world);
    await embedAll(ctx);
    await save(ctx, { entities: [{ id: 'ada', type: 'Person', name: 'Ada one', properties: {} }] });
    let saved: Promise<unknown> | undefined;
    endpoint.answer((asked, res) => {
      endpoint.answer(undefined);
      saved = save(ctx, { entities: [{ id: 'ada', type: 'Person', name: 'Ada two', properties: {} }] }).then(() =>
        sendVectors(asked, res, 16),
      );
    });
    await embedAll(ctx);
    await saved;
    expect(endpoint.texts().at(-1)).toContain('Ada two');
    expect(await notesOf(ctx)).toBe(0);
  });

  test('deletes the vectors with the element, and those of a superseded fact', async () => {
    verifies('embeddings.deleted-with-element');
    const ctx = contextOf();
    await save(ctx, world);
    await embedAll(ctx);
    await save(ctx, { facts: [{ subject: 'ada', predicate: 'lives in', object: 'Paris' }] });
    const { hits } = (await deps.nearestByText(ctx.projectId, 'Ada Lovelace lives in London', 5)) as any;
    expect(hits.map(({ kind }: any) => kind).sort()).toEqual(['entity', 'entity', 'relationship']);
    await embedAll(ctx);
    expect((await vectorsOf(ctx)).filter(({ kind }) => kind === 'fact')).toHaveLength(2);
    await inWriteTransaction(deps.graph, ctx.projectId, (tx) => removeEntities(tx, ctx.projectId, ['ada']));
    expect(await vectorsOf(ctx)).toMatchObject([{ kind: 'entity', id: 'grace' }]);
    await embedAll(ctx);
    expect(await vectorsOf(ctx)).toHaveLength(1);
  });

  test('does not send sealed properties, and deletes the vectors of what is sealed later', async () => {
    verifies('embeddings.sealed');
    const ctx = contextOf();
    const person = (open: boolean) => ({
      entity_types: {
        Person: {
          properties: { mail: { type: 'string', required: false, multi_valued: false, personal: !open } },
          open: true,
          multi_valued: false,
        },
      },
      relationship_types: {},
    });
    const commit = (definition: object, baseVersion: number) =>
      commitOntology(deps.graph, ctx.projectId, {
        definition,
        baseVersion,
        committedAt: 1,
        committedBy: 'tester',
      } as never);
    await commit(person(true), 0);
    const mail = { mail: 'ada@secret.example' };
    await save(ctx, { entities: [{ id: 'ada', type: 'Person', name: 'Ada', properties: mail }] });
    await embedAll(ctx);
    expect(endpoint.texts().join()).toContain('ada@secret.example');
    await commit(person(false), 1);
    expect(await vectorsOf(ctx)).toEqual([]);
    const before = endpoint.texts().length;
    await save(ctx, {
      entities: [{ id: 'bob', type: 'Person', name: 'Bob', properties: mail }],
      facts: [{ subject: 'ada', predicate: 'mail', object: 'ada@secret.example' }],
    });
    await embedAll(ctx);
    expect(await vectorsOf(ctx)).toHaveLength(3);
    // On a busy machine, a request is repeated.
    expect(new Set(endpoint.texts().slice(before)).size).toBe(3);
    expect(endpoint.texts().slice(before).join()).not.toContain('secret');
  });
});

describe('generations', () => {
  test('are built next to the old one, which is searched until the new one is complete', async () => {
    verifies('embeddings.generations');
    const next = useDepsLater({ ...settings, EMBEDDING_MODEL: 'longer', EMBEDDING_DIMENSIONS: '24' });
    const ctx = contextOf();
    await save(ctx, world);
    await embedAll(ctx);
    const [{ generation: old }] = await vectorsOf(ctx);
    const asked: string[] = [];
    endpoint.answer((request, res) => {
      asked.push(request.model);
      sendVectors(request, res, request.model === 'longer' ? 24 : 16);
    });
    const request = { project_id: ctx.projectId, organization_id: ctx.organizationId, charge_key: newId() };
    await embedNext(next, request, signal);
    expect(await next.nearestByText(ctx.projectId, 'first compiler', 1)).toMatchObject({ generation: old });
    expect(asked).toEqual(['words']);
    await embedAll(ctx, next);
    const vectors = await vectorsOf(ctx);
    expect(vectors).toHaveLength(4);
    expect(new Set(vectors.map(({ generation }) => generation)).has(old)).toBe(false);
    expect(await next.nearestByText(ctx.projectId, 'first compiler', 1)).toMatchObject({
      generation: vectors[0].generation,
    });
    await next.close();
  });

  test('are searched although another project left the same generation while this one began it', async () => {
    verifies('embeddings.generations');
    const own = useDepsLater({ ...settings, EMBEDDING_MODEL: 'shared', EMBEDDING_DIMENSIONS: '20' });
    endpoint.answer((request, res) => sendVectors(request, res, request.model === 'shared' ? 20 : 16));
    const [other, ctx] = [contextOf(), contextOf()];
    for (const each of [other, ctx]) await save(each, world);
    await embedAll(other, own);
    const generation = generationOf({ model: 'shared', dimensions: 20 });
    await createGeneration(deps.graph, generation);
    await embedAll(other);
    await inWriteTransaction(deps.graph, ctx.projectId, async (tx) => {
      await lockProject(tx, ctx.projectId);
      await beginGeneration(tx, ctx.projectId, generation.id);
    });
    await embedAll(ctx, own);
    expect(await own.nearestByText(ctx.projectId, 'first compiler', 1)).toMatchObject({ generation: generation.id });
    await own.close();
  });
});

describe('searches by vectors', () => {
  test('return only the project, whatever share of the vectors it has, and what brute force finds', async () => {
    verifies('embeddings.tenancy');
    const [small, large] = [contextOf(), contextOf()];
    const people = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        type: 'Person',
        name: `person ${at}`,
        properties: { of: `${at % 7}` },
      }));
    for (let at = 0; at * 1000 <= maxExact; at += 1)
      await save(large, { entities: people(1000).map((each, n) => ({ ...each, name: `${each.name} of ${at} ${n}` })) });
    await save(small, { entities: people(40) });
    await Promise.all([embedAll(large), embedAll(small)]);
    for (const ctx of [small, large]) {
      const answer = (await deps.nearestByText(ctx.projectId, 'person 7', 20)) as any;
      expect(answer.hits).toHaveLength(20);
      const own = await rows('UNWIND $ids AS id MATCH (n:Entity {project_id: $projectId, id: id}) RETURN n.id AS id', {
        projectId: ctx.projectId,
        ids: ids(answer),
      });
      expect(own).toHaveLength(20);
      const [{ best }] = await rows(
        `MATCH (v:_Vector {project: $projectId}) WITH v MATCH (w:_Vector {project: $projectId, id: $id})
         WITH v, vector.similarity.cosine(v.embedding, w.embedding) AS score RETURN max(score) AS best`,
        { projectId: ctx.projectId, id: answer.hits[0].id },
      );
      expect(best).toBeCloseTo(1, 4);
    }
  });
});

describe('a question', () => {
  const asked = (ctx: ReturnType<typeof contextOf>, question: string) => {
    const query = toolWith(deps, queryContext);
    // By default, a busy machine has 5 s for the first search of its kind.
    return call(query, ctx, { query: question, explain: true, timeout_ms: 30_000 });
  };

  test('finds both entities of a relationship by the text of the relationship', async () => {
    verifies('retrieval.relationships');
    const ctx = contextOf();
    const others = Array.from({ length: 20 }, (_, at) => ({ id: `p${at}`, type: 'Person', name: `Somebody ${at}` }));
    await save(ctx, world);
    await save(ctx, { entities: others });
    await embedAll(ctx);
    const { entities, relationships } = await asked(ctx, 'a shared love of engines');
    expect(
      entities
        .slice(0, 2)
        .map(({ id }: any) => id)
        .sort(),
    ).toEqual(['ada', 'grace']);
    expect(relationships).toMatchObject([{ type: 'ADMIRES' }, { type: 'KNOWS' }]);
  });

  test('is embedded without the name that many of its hits have, and its answer is still found', async () => {
    verifies('retrieval.common-names');
    const ctx = contextOf();
    const turn = (at: number, text: string) => ({
      ...{ id: `t${at}`, type: 'Turn', name: `Turn ${at}` },
      properties: { text, speaker: at === 10 ? 'Bo' : 'Ann' },
    });
    const texts = Array.from({ length: 11 }, (_, at) => `Remark ${at} about the weather`);
    const entities = [...texts.map((text, at) => turn(at, text)), turn(11, 'I keep sheep on the hill')];
    await save(ctx, { entities });
    await embedAll(ctx);
    const answer = await asked(ctx, "Where are Ann's sheep?");
    expect(endpoint.texts().at(-1)).toBe('Where are sheep?');
    expect(answer.entities[0]).toMatchObject({ id: 't11' });
    expect(answer.explanation.vectors).toMatchObject({ used: true });
    await asked(ctx, 'What does Bo keep?');
    expect(endpoint.texts().at(-1)).toBe('What does Bo keep?');
  });
});

describe('an endpoint that fails', () => {
  test('with another dimension is reported, loses nothing, and leaves searches to text', async () => {
    verifies('embeddings.failures', 'embeddings.docs');
    const ctx = contextOf();
    await save(ctx, world);
    endpoint.answer((asked, res) => sendVectors(asked, res, 8));
    const wrong = 'the embedding model words returns vectors of 8 values, but EMBEDDING_DIMENSIONS is 16';
    await expect(embedAll(ctx)).rejects.toMatchObject({ code: 'unconfigured', message: wrong });
    expect(await notesOf(ctx)).toBeGreaterThan(0);
    const docs = toolWith(deps, readDocs);
    expect((await call(docs, ctx, { topic: 'retrieval' })).embeddings).toMatchObject({
      endpoint: { model: 'words', dimensions: 16, problem: wrong },
      generation: null,
      building: { model: 'words' },
      elements: 3,
      embedded: 0,
      coverage: 0,
    });
    endpoint.answer(undefined);
    await embedAll(ctx);
    expect((await call(docs, ctx, { topic: 'retrieval' })).embeddings).toMatchObject({
      endpoint: { problem: null },
      generation: { model: 'words', dimensions: 16 },
      building: null,
      coverage: 1,
      waiting: 0,
      lag_seconds: 0,
      error: null,
    });
  });

  test('by status or with a limit says how long to wait', async () => {
    verifies('embeddings.failures');
    const ctx = contextOf();
    await save(ctx, world);
    endpoint.answer((_, res) => sendError(res, 429, { 'retry-after': '7' }));
    await expect(embedAll(ctx)).rejects.toMatchObject({ code: 'model_unavailable', retryAfterMs: 7000 });
    endpoint.answer(undefined);
    await embedAll(ctx);
    endpoint.answer((_, res) => sendError(res, 503));
    expect(await deps.nearestByText(ctx.projectId, 'a question nobody asked', 3)).toEqual({
      unavailable: 'the model endpoint answered with status 503: no',
    });
  });

  test.each([
    ['status 400', (_: unknown, res: any) => sendError(res, 400)],
    ['one vector for each text', (_: unknown, res: any) => res.end('{"data": [{"embedding": [0, 0]}]}')],
  ])('with one text (%s) embeds the others', async (problem, fail) => {
    verifies('embeddings.failures');
    const ctx = contextOf();
    await save(ctx, world);
    endpoint.answer((asked, res) =>
      asked.input.some((text) => text.includes('Hopper about')) ? fail(asked, res) : sendVectors(asked, res, 16),
    );
    expect(await embedAll(ctx)).toMatchObject({ embedded: 3, refused: 1 });
    expect(await readEmbeddingReport(deps.graph, ctx.projectId)).toMatchObject({
      coverage: 0.6667,
      refused: expect.stringContaining(problem),
      error: null,
    });
    expect(await notesOf(ctx)).toBe(0);
  });
});

function useDepsLater(overrides: Record<string, string>): Deps {
  return createDeps(loadConfig({ ...testRun().env, LOG_LEVEL: 'silent', ...overrides }), 'test');
}
