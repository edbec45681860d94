import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { sizeOf } from '../../requirements/full-forms.js';
import { verifies } from '../../support/verifies.js';
import { attacks } from './attacks.js';
import { honestQueries } from './honest.js';
import { generated, mutated, randomOf } from './mutations.js';
import { createWorlds, sorted, type Outcome, type Query, type Worlds } from './worlds.js';

const seed = Number(process.env.GUARD_FUZZ_SEED ?? randomInt(2 ** 31));
const lastsMs = sizeOf('GUARD_FUZZ_MS');
const atMost = 3000;
let worlds: Worlds;

beforeAll(async () => {
  worlds = await createWorlds();
});
afterAll(() => worlds.close());

/** Exclude ids, which the database assigns, and long queries, which take too long. */
const corpus = [...attacks, ...honestQueries].filter(
  ({ query, granted }) => !query.includes('id(') && query.length < 600 && !granted,
);
/** Matches queries whose rows the database may choose. Only the number of rows is the same in both worlds. */
const leavesAChoice = /\b(LIMIT|SKIP|SHORTEST|ANY|shortestPath|head|last|collect|reduce|rand)\b|\.\.|\[\d/i;

test(
  `no fuzzed query leaves its project (GUARD_FUZZ_SEED=${seed})`,
  async () => {
    verifies('gateway.query.never-leaves-project');
    const random = randomOf(seed);
    const tally = { refused: 0, failed: 0, answered: 0 };
    const end = performance.now() + lastsMs;
    for (let count = 0; count < atMost && (performance.now() < end || tally.answered === 0); count += 4) {
      const batch = Array.from({ length: 4 }, (): Query => {
        const base = random.pick(corpus);
        return {
          ...base,
          query: random.chance(0.5) ? generated(random) : mutated(random, base.query, random.pick(corpus).query),
        };
      });
      for (const outcome of await Promise.all(batch.map(check))) tally[outcome] += 1;
    }
    console.log(`guard fuzz: seed ${seed}`, tally);
    expect(tally.answered).toBeGreaterThan(0);
  },
  lastsMs + 60_000,
);

async function check(query: Query): Promise<'refused' | 'failed' | 'answered'> {
  const [beset, alone] = await Promise.all([worlds.run(query, 'beset'), worlds.run(query, 'alone')]);
  if (isCut(beset) || isCut(alone)) return 'failed';
  const finding = { query: query.query, params: query.params, beset, alone };
  if ('rows' in beset && 'rows' in alone) {
    if (beset.canaries.length > 0) throw new Error(JSON.stringify(finding));
    const same = leavesAChoice.test(query.query)
      ? beset.rows.length === alone.rows.length
      : JSON.stringify(sorted(beset.rows)) === JSON.stringify(sorted(alone.rows));
    if (!same) throw new Error(JSON.stringify(finding));
    return 'answered';
  }
  if (
    Object.keys(beset)[0] !== Object.keys(alone)[0] ||
    ('failed' in beset && JSON.stringify(beset) !== JSON.stringify(alone))
  )
    throw new Error(JSON.stringify(finding));
  return 'refused' in beset ? 'refused' : 'failed';
}

/** Returns whether the database ran out of time or memory, which reveals nothing about the data. */
function isCut(outcome: Outcome): boolean {
  return 'failed' in outcome && /Transient|Timed|Terminated/.test(outcome.failed);
}
