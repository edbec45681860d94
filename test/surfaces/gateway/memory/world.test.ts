import { beforeAll, describe, expect, test } from '@jest/globals';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { expectSources, readWorld } from '../../../support/world.js';
import { remembered, useMemoryProduct, type Remembering } from './memory-product.js';

/** Statements that one call each saves about one subject, and what is valid at which time. */
interface StatementCase {
  name: string;
  source: string;
  calls: Record<string, unknown>[][];
  /** By year, or `now`. */
  valid: Record<string, string[]>;
  /** What the last call reports. */
  last?: object;
}

interface SpellingCase {
  name: string;
  source: string;
  stored: string;
  asked: string;
  same: boolean;
}

/** `{N}` is a name that only this case has. `found` are the characters of the text, or null if it does not say it. */
interface QuoteCase {
  name: string;
  source: string;
  text: string;
  quote: string;
  found: string | null;
}

/** `read` is the time that is meant, `text` for the time of the text, or null if the fact is dropped. */
interface DateCase {
  name: string;
  source: string;
  given: unknown;
  read: string | null;
}

const deps = useDeps();
const product = useMemoryProduct(deps);

const world = readWorld<any>('graph');
const casesOf = <Case>(file: string): (Case & { at: number })[] => world.cases.filter((each) => each.file === file);
const [statements, spellings] = [casesOf<StatementCase>('statements'), casesOf<SpellingCase>('spellings')];
const [quotes, dates] = [casesOf<QuoteCase>('quotes'), casesOf<DateCase>('dates')];

test('the corpus names its sources', () => {
  const titled = world.cases.map(({ file, name, source }) => ({ title: `${file}: ${name}`, source }));
  expectSources(world, titled, { files: 4, cases: 200 });
});

const ontology = {
  entity_types: {
    Person: { properties: { skill: { multi_valued: true }, badge: { single_valued: true } }, open: true },
  },
  relationship_types: { KNOWS: {}, REPORTS_TO: { single_valued: true } },
};

/** A name of letters that no other case has. */
function nameOf(at: number): string {
  const syllables = ['ba', 'do', 'fi', 'gu', 'ke', 'lo', 'mi', 'nu', 'ra', 'so'];
  return `Q${[Math.floor(at / 100), Math.floor(at / 10) % 10, at % 10].map((each) => syllables[each]).join('')}x`;
}

describe('statements about one subject', () => {
  let workspace: Remembering;
  beforeAll(async () => {
    workspace = await product.workspace(() => ({}), { ontology });
  });

  async function validAt(id: string, year: string): Promise<string[]> {
    const query =
      'MATCH (f:Fact) WHERE f.project_id = $project_id AND f.subject = $id RETURN f.predicate AS predicate, f.object AS object';
    const moment = year === 'now' ? {} : { as_of: Date.parse(`${year}-06-01T00:00:00Z`) / 1000 };
    const { body } = await workspace.gateway.post('/v1/query-context', { query, params: { id }, ...moment });
    return body.rows.map(({ predicate, object }: any) => `${predicate} ${object}`).sort();
  }

  test.each(statements)('$name', async ({ at, calls, valid, last }) => {
    verifies('gateway.save-context.ends', 'gateway.save-context.lists', 'gateway.save-context.changes');
    const id = `subject-${at}`;
    await workspace.gateway.post('/v1/save-context', { entities: [{ id, type: 'Person', name: nameOf(at) }] });
    let changes: unknown;
    for (const stated of calls) {
      const facts = stated.map((fact) => ({ subject: id, ...fact }));
      const { status, body } = await workspace.gateway.post('/v1/save-context', { facts });
      expect([status, body.error_description]).toEqual([200, undefined]);
      changes = body.changes.facts;
    }
    if (last) expect(changes).toEqual(last);
    const found = await Promise.all(Object.keys(valid).map(async (year) => [year, await validAt(id, year)] as const));
    expect(Object.fromEntries(found)).toEqual(valid);
  });
});

describe('names of entities', () => {
  let workspace: Remembering;
  const typeOf = (at: number) => `Case${at}`;
  beforeAll(async () => {
    workspace = await product.workspace(() => ({}), { ontology: null });
    const entities = spellings.map(({ at, stored }) => ({ id: `stored-${at}`, type: typeOf(at), name: stored }));
    expect(await workspace.gateway.post('/v1/save-context', { entities })).toMatchObject({ status: 200 });
  });

  test.each(spellings)('$name', async ({ at, asked, same }) => {
    verifies('gateway.save-context.names');
    const named = { type: typeOf(at), name: asked };
    const fact = { subject: named, predicate: 'seen', object: true };
    const stated = await workspace.gateway.post('/v1/save-context', { facts: [fact] });
    const link = { from: named, type: 'IS', to: named };
    const linked = await workspace.gateway.post('/v1/save-context', { relationships: [link] });
    const upserted = await workspace.gateway.post('/v1/save-context', { entities: [named] });
    expect([stated.status, linked.status, upserted.status]).toEqual(same ? [200, 200, 200] : [422, 422, 200]);
    expect(upserted.body.ids[0] === `stored-${at}`).toBe(same);
  });
});

describe('quotes of a model', () => {
  const placed = quotes.map((each) => ({
    ...each,
    text: each.text.replaceAll('{N}', nameOf(each.at)),
    quote: each.quote.replaceAll('{N}', nameOf(each.at)),
    found: each.found === null ? null : each.found.replaceAll('{N}', nameOf(each.at)),
  }));
  const spans = new Map<string, { turn: number; start: number; end: number }>();
  let memory: any;

  beforeAll(async () => {
    const workspace = await product.workspace(
      (asked) => {
        const own = placed.filter(({ text }) => asked.includes(text));
        return {
          entities: own.map(({ at }) => ({ type: 'Person', name: nameOf(at), quote: nameOf(at) })),
          facts: own.map(({ at, quote }) => ({ subject: nameOf(at), predicate: 'case', object: at, quote })),
        };
      },
      { ontology },
    );
    memory = await remembered(workspace, { turns: placed.map(({ text }) => ({ speaker: 'Eve', text })) });
    const query = 'MATCH (f:Fact) WHERE f.project_id = $project_id RETURN f LIMIT 200';
    const { body } = await workspace.gateway.post('/v1/query-context', { query, limit: 200 });
    for (const { object, provenance } of body.facts) spans.set(String(object), provenance.span);
  });

  test.each(placed)('$name', ({ at, text, found }) => {
    verifies('memory.quotes');
    const span = spans.get(String(at));
    expect(span === undefined ? null : [span.turn, text.slice(span.start, span.end)]).toEqual(
      found === null ? null : [at, found],
    );
  });

  test('what the text does not say is counted', () => {
    verifies('memory.quotes');
    expect(memory.found).toMatchObject({ without_span: placed.filter(({ found }) => found === null).length });
  });
});

describe('times of a model', () => {
  const at = '2016-05-04T10:20:30.000Z';
  const starts = new Map<string, number>();
  let memory: any;

  beforeAll(async () => {
    const workspace = await product.workspace(
      () => ({
        entities: dates.map((each) => ({ type: 'Person', name: nameOf(each.at), quote: nameOf(each.at) })),
        facts: dates.map((each) => ({
          ...{ subject: nameOf(each.at), predicate: 'case', object: each.at, quote: nameOf(each.at) },
          valid_from: each.given,
        })),
      }),
      { ontology },
    );
    memory = await remembered(workspace, { text: dates.map((each) => nameOf(each.at)).join('. '), at });
    const query = 'MATCH (f:Fact) WHERE f.project_id = $project_id RETURN f LIMIT 200';
    const { body } = await workspace.gateway.post('/v1/query-context', { query, limit: 200 });
    for (const { object, valid_from } of body.facts) starts.set(String(object), valid_from);
  });

  test.each(dates)('$name', (each) => {
    verifies('memory.times');
    const start = starts.get(String(each.at));
    const read = each.read === 'text' ? at : each.read && new Date(each.read).toISOString();
    expect(start === undefined ? null : new Date(start * 1000).toISOString()).toBe(read);
  });

  test('a time that cannot be read is counted', () => {
    verifies('memory.times');
    expect(memory.found).toMatchObject({ wrong_time: dates.filter(({ read }) => read === null).length });
  });
});
