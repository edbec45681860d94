import { beforeAll, describe, expect, test } from '@jest/globals';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { saveBounds } from '../../src/graph/save/input.js';
import { nameBounds } from '../../src/graph/save/names-of-project.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';
import { call, contextFor, contextOf, refusal, toolWith } from './tool-call.js';

const deps = useDeps();
const save = toolWith(deps, saveContext);
beforeAll(() => prepareGraph(deps.graph));

const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

/** Uses the same names in each run, because the database keeps every name permanently. */
describe('names that a project adds to the graph', () => {
  test('are limited for entity types, relationship types and properties; known names still work', async () => {
    verifies('graph.names-bounded');
    const ctx = contextOf();
    const entities = many(nameBounds.entity_types, (at) => ({
      id: `e${at}`,
      type: `Bound ${at}`,
      name: 'e',
      properties: {},
    }));
    const relationships = many(nameBounds.relationship_types, (at) => ({
      from: 'e0',
      type: `BOUND_${at}`,
      to: 'e1',
      properties: {},
    }));
    await call(save, ctx, { entities, relationships });
    for (let from = 0; from < nameBounds.property_names; from += 200) {
      await call(save, contextFor(ctx.principal), {
        entities: [
          {
            id: `p${from}`,
            type: 'Bound 0',
            name: 'p',
            properties: Object.fromEntries(many(200, (at) => [`bound ${from + at}`, 1])),
          },
        ],
      });
    }
    const refused = [
      [{ entities: [{ type: 'Bound more', name: 'x' }] }, '301 different entity types; at most 300'],
      [
        { relationships: [{ from: 'e0', type: 'BOUND_MORE', to: 'e1' }] },
        '301 different relationship types; at most 300',
      ],
      [
        { entities: [{ type: 'Bound 0', name: 'x', properties: { 'bound more': 1 } }] },
        '2001 different property names; at most 2000',
      ],
    ] as const;
    for (const [input, message] of refused) {
      expect(await refusal(call(save, contextFor(ctx.principal), input))).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining(message),
      });
    }
    await call(save, contextFor(ctx.principal), {
      entities: [{ type: 'Bound 7', name: 'known', properties: { 'bound 9': 2 } }],
    });
    await call(save, contextOf(), { entities: [{ type: 'Bound more', name: 'another project' }] });
  });
});

describe('properties of one entity or relationship', () => {
  test('have a size limit across many saves, and the refusal names it', async () => {
    verifies('graph.entity-bounded');
    const ctx = contextOf();
    const part = (at: number) => Object.fromEntries(many(5, (each) => [`part${at}-${each}`, 'x'.repeat(30_000)]));
    const grow = (at: number) =>
      call(save, contextFor(ctx.principal), {
        entities: [
          { id: 'a', type: 'Grown', name: 'a', properties: part(at) },
          { id: 'b', type: 'Grown', name: 'b' },
        ],
        relationships: [{ from: 'a', type: 'GROWS', to: 'b', properties: part(at) }],
      });
    for (let at = 0; at < 6; at += 1) await grow(at);
    const message = `entities.0.properties: would hold more than ${saveBounds.element} characters of JSON in all`;
    expect(await refusal(grow(6))).toMatchObject({ code: 'invalid_input', message });
    const link = { relationships: [{ from: 'a', type: 'GROWS', to: 'b', properties: part(6) }] };
    expect((await refusal(call(save, contextFor(ctx.principal), link))).message).toBe(
      message.replace('entities', 'relationships'),
    );
  });
});
