import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../src/domain/tools/query-context.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { commitOntology, currentOntology } from '../../src/graph/ontology/commit.js';
import { OntologyDefinition } from '../../src/graph/ontology/definition.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import type { Connection } from '../../src/graph/store/sessions.js';
import { epochSeconds } from '../../src/base/time.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { sizeOf } from '../requirements/full-forms.js';
import { call, contextFor, contextOf, refusal, toolWith } from './tool-call.js';

const deps = useDeps();
const save = toolWith(deps, saveContext);
const query = toolWith(deps, queryContext);
beforeAll(() => prepareGraph(deps.graph));

const definition = (personal: boolean) =>
  OntologyDefinition.parse({
    entity_types: { Person: { properties: { ssn: { type: 'string', personal } }, open: true } },
    relationship_types: { KNOWS: { properties: { note: { personal } } } },
  });
const next = (baseVersion: number, personal: boolean) => ({
  definition: definition(personal),
  baseVersion,
  committedAt: epochSeconds(),
  committedBy: 'test',
});

/** Returns the graph, whose write transactions fail from the given one on, like those of a killed process. */
function dyingAfter(writes: number): Connection {
  let left = writes;
  return {
    ...deps.graph,
    writes: {
      take: (projectId, work, signal) => {
        left -= 1;
        if (left < 0) return Promise.reject(new Error('the process is gone'));
        return deps.graph.writes.take(projectId, work, signal);
      },
    },
  };
}

async function lapse(projectId: string): Promise<void> {
  await deps.graph.writer.executeQuery('MATCH (s:ProjectState {key: $projectId}) SET s.pending_until = 0', {
    projectId,
  });
}

const shown = async (ctx: ReturnType<typeof contextOf>) =>
  (
    await call(query, contextFor(ctx.principal), {
      query: `MATCH (n:Person) WHERE n.project_id = $project_id AND n.ssn STARTS WITH 'secret' RETURN count(n) AS clear`,
      timeout_ms: 30_000,
    })
  ).rows[0].clear;

describe('a commit of the ontology in many batches', () => {
  const ctx = contextOf();
  const people = sizeOf('ONTOLOGY_ELEMENTS') / 2;

  beforeAll(async () => {
    for (let from = 0; from < people; from += 1000) {
      const ids = Array.from({ length: 1000 }, (_, at) => `p${from + at}`);
      await call(save, contextFor(ctx.principal), {
        entities: ids.map((id) => ({ id, type: 'Person', name: id, properties: { ssn: `secret ${id}` } })),
        relationships: ids.map((id, at) => ({
          from: id,
          type: 'KNOWS',
          to: ids[(at + 1) % 1000],
          properties: { note: `secret ${id}` },
        })),
        facts: ids.slice(0, 100).map((id) => ({ subject: id, predicate: 'ssn', object: `secret ${id}` })),
      });
    }
  });

  test('keeps the previous version active if it is interrupted, and the next commit completes everything', async () => {
    verifies('gateway.ontology.commit-in-batches');
    expect(await commitOntology(deps.graph, ctx.projectId, next(0, false))).toMatchObject({ version: 1 });
    await expect(commitOntology(dyingAfter(20), ctx.projectId, next(1, true))).rejects.toThrow('the process is gone');
    expect(await currentOntology(deps.graph, ctx.projectId)).toMatchObject({ version: 1 });
    expect(await refusal(commitOntology(deps.graph, ctx.projectId, next(1, true)))).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('under way'),
    });
    await lapse(ctx.projectId);

    // A save under the active version unseals the properties that the interrupted commit sealed.
    await call(save, contextFor(ctx.principal), {
      entities: [{ id: 'p0', type: 'Person', name: 'p0', properties: { seen: true } }],
    });
    const { entities } = await call(query, contextFor(ctx.principal), {
      query: 'MATCH (n:Person {id: "p0"}) WHERE n.project_id = $project_id RETURN n',
    });
    expect(entities[0].properties).toEqual({ ssn: 'secret p0', seen: true });

    expect(await commitOntology(deps.graph, ctx.projectId, next(1, true))).toMatchObject({ version: 2 });
    expect(await shown(ctx)).toBe(0);
    const facts = await call(query, contextFor(ctx.principal), {
      query: 'MATCH (f:Fact) WHERE f.project_id = $project_id RETURN DISTINCT f.object AS object',
    });
    expect(facts.rows).toEqual([{ object: '[redacted:personal]' }]);

    expect(await commitOntology(deps.graph, ctx.projectId, next(2, false))).toMatchObject({ version: 3 });
    expect(await shown(ctx)).toBe(people);
  });

  test('unseals its data if it fails but its process does not', async () => {
    verifies('gateway.ontology.commit-in-batches');
    const small = contextOf();
    await call(save, small, { entities: [{ id: 'a', type: 'Person', name: 'a', properties: { ssn: 'secret a' } }] });
    let failed = false;
    const failing: Connection = {
      ...deps.graph,
      writes: {
        // Fail the transaction that activates the version: begin, two pages of entities, then this one.
        take: (projectId, work, signal) => {
          calls += 1;
          if (calls !== 4 || failed) return deps.graph.writes.take(projectId, work, signal);
          failed = true;
          return Promise.reject(new Error('a passing fault'));
        },
      },
    };
    let calls = 0;
    await expect(commitOntology(failing, small.projectId, next(0, true))).rejects.toThrow('a passing fault');
    expect(await currentOntology(deps.graph, small.projectId)).toBeNull();
    expect(await shown(small)).toBe(1);
    expect(await commitOntology(deps.graph, small.projectId, next(0, true))).toMatchObject({ version: 1 });
    expect(await shown(small)).toBe(0);
  });

  test('keeps personal data sealed if only the answer to the activation was lost', async () => {
    verifies('gateway.ontology.commit-in-batches');
    const lost = contextOf();
    await call(save, lost, { entities: [{ id: 'a', type: 'Person', name: 'a', properties: { ssn: 'secret a' } }] });
    let isLost = false;
    const failing: Connection = {
      ...deps.graph,
      writes: {
        async take(projectId, work, signal) {
          const result = await deps.graph.writes.take(projectId, work, signal);
          if (isLost || !(await currentOntology(deps.graph, projectId))) return result;
          isLost = true;
          throw new Error('the answer was lost');
        },
      },
    };
    await expect(commitOntology(failing, lost.projectId, next(0, true))).rejects.toThrow('the answer was lost');
    expect(await currentOntology(deps.graph, lost.projectId)).toMatchObject({ version: 1 });
    expect(await shown(lost)).toBe(0);
  });

  test('finds a fact by the name of its object again after the predicate is no longer personal', async () => {
    verifies('gateway.ontology.commit-in-batches');
    const named = contextOf();
    await call(save, named, {
      entities: [
        { id: 'a', type: 'Person', name: 'Ann' },
        { id: 'q', type: 'Person', name: 'Quibblewick' },
      ],
      facts: [{ subject: 'a', predicate: 'ssn', object: 'q' }],
    });
    const found = async () => {
      const { entities } = await call(query, contextFor(named.principal), { query: 'Quibblewick' });
      return (entities as { id: string }[]).map(({ id }) => id).sort();
    };
    expect(await found()).toEqual(['a', 'q']);
    await commitOntology(deps.graph, named.projectId, next(0, true));
    expect(await found()).toEqual(['q']);
    await commitOntology(deps.graph, named.projectId, next(1, false));
    expect(await found()).toEqual(['a', 'q']);
  });

  test('allows concurrent saves, which must match both versions and are sealed by both', async () => {
    verifies('gateway.ontology.commit-in-batches');
    const busy = contextOf();
    await call(save, busy, { entities: [{ id: 'a', type: 'Person', name: 'a', properties: { ssn: 'secret a' } }] });
    await expect(commitOntology(dyingAfter(2), busy.projectId, next(0, true))).rejects.toThrow('the process is gone');
    await call(save, contextFor(busy.principal), {
      entities: [{ id: 'b', type: 'Person', name: 'b', properties: { ssn: 'secret b' } }],
    });
    expect(await shown(busy)).toBe(0);
    expect(
      await refusal(call(save, contextFor(busy.principal), { entities: [{ type: 'Stranger', name: 'c' }] })),
    ).toMatchObject({ code: 'invalid_input' });
    await lapse(busy.projectId);
    await call(save, contextFor(busy.principal), { entities: [{ type: 'Stranger', name: 'c' }] });
  });
});
