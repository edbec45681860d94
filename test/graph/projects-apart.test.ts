import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { queryContext } from '../../src/domain/tools/query-context.js';
import { saveContext } from '../../src/domain/tools/save-context.js';
import { lockProject } from '../../src/graph/ontology/state.js';
import { prepareGraph } from '../../src/graph/store/schema.js';
import { inWriteTransaction } from '../../src/graph/store/sessions.js';
import { createBookmarks } from '../../src/stores/bookmarks.js';
import { createGraph } from '../../src/stores/neo4j.js';
import { createTurns } from '../../src/base/turns.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { call, contextFor, contextOf, refusal, toolWith } from './tool-call.js';

const deps = useDeps();
const { NEO4J_URI: uri = '', NEO4J_USER: user = '', NEO4J_PASSWORD: password = '' } = testRun().env;
const another = createGraph({ uri, user, password });
const save = toolWith(deps, saveContext);
const query = toolWith(deps, queryContext);
beforeAll(() => prepareGraph(deps.graph));
afterAll(() => another.close());

const thing = (name: string) => ({ entities: [{ type: 'Thing', name }] });
const things = { query: 'MATCH (n:Thing) WHERE n.project_id = $project_id RETURN count(n) AS n' };

/** Holds the project's lock like another process until the returned function is called. */
async function holdLock(projectId: string): Promise<() => Promise<void>> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let locked: () => void = () => undefined;
  const isLocked = new Promise<void>((resolve) => (locked = resolve));
  const holding = inWriteTransaction(another, projectId, async (tx) => {
    await lockProject(tx, projectId);
    locked();
    await released;
  });
  await isLocked;
  return async () => {
    release();
    await holding;
  };
}

describe('a project with a held lock and many waiting writes', () => {
  test('does not delay reads and writes of another project, and completes all writes when the lock is released', async () => {
    verifies('graph.projects-apart');
    const [busy, other] = [contextOf(), contextOf()];
    const release = await holdLock(busy.projectId);
    const waiting = Array.from({ length: 90 }, (_, at) => call(save, contextFor(busy.principal), thing(`thing ${at}`)));
    const settled = Promise.allSettled(waiting);
    for (let round = 0; round < 5; round += 1) {
      await call(save, contextFor(other.principal), thing(`other ${round}`));
      expect((await call(query, contextFor(other.principal), things)).rows).toEqual([{ n: round + 1 }]);
    }
    expect((await call(query, contextFor(busy.principal), things)).rows).toEqual([{ n: 0 }]);
    await release();
    expect((await settled).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect((await call(query, contextFor(busy.principal), things)).rows).toEqual([{ n: 90 }]);
  });
});

describe('turns of a project', () => {
  const turns = createTurns({ what: 'queries', maxRunning: 2, maxWaiting: 3, waitTimeoutMs: 60_000 });

  test('run a few concurrently, queue the next ones in order, and refuse the rest with 429 and Retry-After', async () => {
    verifies('gateway.query.concurrency');
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const work = (at: number) => () =>
      new Promise<number>((resolve) => {
        begun.push(at);
        ends.push(() => resolve(at));
      });
    const running = [0, 1, 2, 3, 4].map((at) => turns.take('p', work(at)));
    const refused = turns.take('p', work(5));
    await expect(refused).rejects.toMatchObject({ code: 'quota_exceeded', facts: { retryAfterSeconds: 1 } });
    expect(await turns.take('q', () => Promise.resolve('another project'))).toBe('another project');
    expect(begun).toEqual([0, 1]);
    for (let at = 0; at < 5; at += 1) {
      await eventually(() => expect(ends.length).toBeGreaterThan(at));
      ends[at]?.();
    }
    expect(await Promise.all(running)).toEqual([0, 1, 2, 3, 4]);
  });

  test('drop a waiting call when its caller disconnects or its timeout expires, and continue after a failed call', async () => {
    const impatient = createTurns({ what: 'queries', maxRunning: 1, maxWaiting: 3, waitTimeoutMs: 1 });
    let end: () => void = () => undefined;
    const first = impatient.take('p', () => new Promise<void>((resolve) => (end = resolve)));
    expect(await refusal(impatient.take('p', () => Promise.resolve()))).toMatchObject({ code: 'quota_exceeded' });
    const gone = new AbortController();
    const waiting = createTurns({ what: 'queries', maxRunning: 0, maxWaiting: 3, waitTimeoutMs: 60_000 }).take(
      'p',
      () => Promise.resolve(),
      { signal: gone.signal },
    );
    gone.abort();
    expect(await refusal(waiting)).toMatchObject({ code: 'call_timed_out' });
    end();
    await first;
    await expect(impatient.take('p', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await impatient.take('p', () => Promise.resolve('next'))).toBe('next');
  });
});

describe('bookmarks', () => {
  test('are returned by a save and accepted by a query in another process; an unknown one gets 422', async () => {
    verifies('gateway.query.bookmark');
    const ctx = contextOf();
    const { bookmark } = await call(save, ctx, thing('marked'));
    expect(bookmark).toEqual(expect.any(String));
    const elsewhere = toolWith({ ...deps, graph: another }, queryContext);
    expect((await call(elsewhere, contextFor(ctx.principal), { ...things, bookmark })).rows).toEqual([{ n: 1 }]);
    expect((await call(elsewhere, contextFor(ctx.principal), { query: 'marked', bookmark })).entities).toHaveLength(1);
    for (const text of [things.query, 'marked']) {
      expect(
        await refusal(call(elsewhere, contextFor(ctx.principal), { query: text, bookmark: 'nonsense' })),
      ).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('bookmark') });
    }
  });

  test('are kept per project, so that no project waits for the writes of another', () => {
    const bookmarks = createBookmarks();
    bookmarks.note('a', ['1']);
    bookmarks.note('b', ['2']);
    bookmarks.note('a', ['3']);
    expect([bookmarks.of(['a']), bookmarks.of(['b']), bookmarks.of(['a', 'b', 'c'])]).toEqual([
      ['3'],
      ['2'],
      ['3', '2'],
    ]);
    bookmarks.forget(['a']);
    expect(bookmarks.of(['a'])).toEqual([]);
  });
});
