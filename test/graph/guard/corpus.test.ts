import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../../support/verifies.js';
import { functionAttacks } from './attacks-functions.js';
import { patternAttacks } from './attacks-patterns.js';
import { attacks } from './attacks.js';
import { honestQueries } from './honest.js';
import { createWorlds, sorted, type Worlds } from './worlds.js';

let worlds: Worlds;
const leaks: boolean[] = [];
const errors: boolean[] = [];

beforeAll(async () => {
  worlds = await createWorlds();
});
afterAll(() => worlds.close());

describe('query guard: attacks', () => {
  test('has at least 80 attacks and 40 legitimate queries, each with its own name', () => {
    verifies('gateway.query.never-leaves-project');
    expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
    expect(attacks.length).toBeGreaterThanOrEqual(80);
    expect(honestQueries.length).toBeGreaterThanOrEqual(40);
  });

  test.each(attacks)('$name', async (attack) => {
    verifies('gateway.query.never-leaves-project');
    const [beset, alone] = await Promise.all([worlds.run(attack, 'beset'), worlds.run(attack, 'alone')]);
    if ('rows' in beset && 'rows' in alone) {
      expect(beset.canaries).toEqual([]);
      expect(sorted(beset.rows)).toEqual(sorted(alone.rows));
    } else {
      expect(beset).toEqual(alone);
    }
  });
});

describe('query guard: control', () => {
  test.each(patternAttacks.filter(({ query }) => query.includes('Secret') || query.includes('OR true')))(
    'without the guard: $name',
    async (attack) => {
      const outcome = await worlds.runBare(attack, 'beset');
      leaks.push('canaries' in outcome && outcome.canaries.length > 0);
    },
  );

  test('most attacks leave the project without the guard, so the corpus detects a missing guard', () => {
    expect(leaks.filter(Boolean).length).toBeGreaterThan(leaks.length / 3);
  });

  test.each(functionAttacks.filter(({ name }) => name.startsWith('error')))(
    'without the guard fails on foreign data or not at all: $name',
    async (attack) => {
      errors.push('failed' in (await worlds.runBare(attack, 'beset')));
    },
  );

  test('most attacks cause an observable error', () => {
    expect(errors.filter(Boolean).length).toBeGreaterThan(errors.length / 2);
  });
});

describe('query guard: legitimate queries', () => {
  test.each(honestQueries)('$name', async (query) => {
    verifies('gateway.query.honest-pass');
    const outcome = await worlds.run(query, 'beset');
    if (!('rows' in outcome)) throw new Error(JSON.stringify(outcome));
    expect(outcome.canaries).toEqual([]);
    const expected = query.rows.map((row) => withSortedLists(row));
    expect(query.ordered ? outcome.rows : sorted(outcome.rows.map(byKey))).toEqual(
      query.ordered ? expected : sorted(expected.map(byKey)),
    );
  });
});

function withSortedLists(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, Array.isArray(value) ? sorted(value) : value]),
  );
}

function byKey(row: unknown): unknown {
  return JSON.parse(
    JSON.stringify(row, (_, value: unknown) =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  );
}
