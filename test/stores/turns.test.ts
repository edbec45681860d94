import { expect, test } from '@jest/globals';
import { createTurns, shareOf } from '../../src/base/turns.js';
import { eventually } from '../support/eventually.js';
import { verifies } from '../support/verifies.js';

const limits = { what: 'jobs', maxWaiting: 100, waitTimeoutMs: 600_000 };

/** Work that ends when it is released, and the order in which it began. */
function heldWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      begun.push(name);
      ends.set(name, resolve);
    });
  return { begun, work, end: (name: string) => ends.get(name)?.() };
}

test('a newcomer gets the next free turn, before the long line of another owner', async () => {
  verifies('shares.turns');
  const turns = createTurns({ ...limits, maxRunning: 1, maxTotal: 2 });
  const { begun, work, end } = heldWork();
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => turns.take(name.slice(0, 1), work(name)));
  await eventually(() => expect(begun).toEqual(['a1', 'b1']));
  end('a1');
  await eventually(() => expect(begun).toEqual(['a1', 'b1', 'c1']));
  end('c1');
  await eventually(() => expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']));
  for (const name of ['b1', 'b2', 'a2', 'a3']) {
    await eventually(() => expect(begun).toContain(name));
    end(name);
  }
  await Promise.all(all);
});

test('work that is away leaves its turn to others, and gets one again before it continues', async () => {
  verifies('shares.turns');
  const turns = createTurns({ ...limits, maxRunning: 1, maxTotal: 1 });
  const order: string[] = [];
  let back: () => void = () => undefined;
  const asking = turns.take('a', async (turn) => {
    await turn.away(() => new Promise<void>((resolve) => (back = resolve)));
    order.push('asking');
  });
  const { begun, work, end } = heldWork();
  const other = turns.take('a', work('other'));
  await eventually(() => expect(begun).toEqual(['other']));
  back();
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  end('other');
  await Promise.all([asking, other]);
  expect(order).toEqual(['asking']);
  expect(await turns.take('a', async () => 'free')).toBe('free');
});

test('work that ends while it is away takes no turn with it', async () => {
  verifies('shares.turns');
  const turns = createTurns({ ...limits, maxRunning: 1, maxTotal: 1 });
  let back: () => void = () => undefined;
  let away: Promise<void> = Promise.resolve();
  await turns.take('a', async (turn) => {
    away = turn.away(() => new Promise<void>((resolve) => (back = resolve)));
  });
  back();
  await away;
  expect(await turns.take('a', async () => 'free')).toBe('free');
});

test('work that goes away again while it waits for its turn holds at most one turn', async () => {
  verifies('shares.turns');
  const turns = createTurns({ ...limits, maxRunning: 2, maxTotal: 2 });
  const { begun, work, end } = heldWork();
  const asking = turns.take('a', async (turn) => {
    const questions = [new Promise<void>(setImmediate), new Promise<void>((resolve) => setTimeout(resolve, 1))];
    const others = ['x', 'y'].map((name) => turns.take('b', work(name)));
    const first = turn.away(() => questions[0] ?? Promise.resolve());
    await eventually(() => expect(begun).toEqual(['x', 'y']));
    const second = turn.away(() => questions[1] ?? Promise.resolve());
    end('x');
    end('y');
    await Promise.all([first, second, ...others]);
  });
  await asking;
  const free = ['f1', 'f2'].map((name) => turns.take('c', work(name)));
  await eventually(() => expect(begun).toEqual(['x', 'y', 'f1', 'f2']));
  end('f1');
  end('f2');
  await Promise.all(free);
});

test('a call whose caller has left does not wait', async () => {
  verifies('shares.turns');
  const turns = createTurns({ ...limits, maxRunning: 1 });
  const signal = AbortSignal.abort();
  await expect(turns.take('a', async () => 'made', { signal })).rejects.toMatchObject({ code: 'call_timed_out' });
});

test('a share is a third, and at least one', () => {
  verifies('shares.turns');
  expect([1, 2, 3, 5, 6, 300].map(shareOf)).toEqual([1, 1, 1, 1, 2, 100]);
});

test('a call whose caller has already left gets no turn and no place in the line', async () => {
  verifies('turns.aborted-call');
  const turns = createTurns({ ...limits, maxRunning: 1, maxWaiting: 1 });
  const { begun, work, end } = heldWork();
  const running = turns.take('a', work('a1'));
  const left = turns.take('a', work('left'), { signal: AbortSignal.abort() });
  await expect(left).rejects.toMatchObject({ code: 'call_timed_out' });
  // The only place in the line is still free.
  const next = turns.take('a', work('a2'));
  end('a1');
  await eventually(() => expect(begun).toEqual(['a1', 'a2']));
  end('a2');
  await Promise.all([running, next]);
});
