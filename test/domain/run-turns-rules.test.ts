import { describe, expect, test } from '@jest/globals';
import { changedQueue, maxWaiting, type TurnChange, type TurnQueue } from '../../src/domain/run-turns/rules.js';
import { verifies } from '../support/verifies.js';

const empty: TurnQueue = { running: [], waiting: [] };
const ask = (execution_id: string, key: string | null = null): TurnChange => ({ kind: 'ask', execution_id, key });
const end = (execution_id: string): TurnChange => ({ kind: 'end', execution_id });
const ids = (entries: TurnQueue['running']) => entries.map(({ execution_id }) => execution_id);
const no = { limit: null, limit_per_key: null };

describe('the turns of runs', () => {
  test('go to no more runs than the limits allow, in the order in which they asked', () => {
    verifies('execution.turns');
    const asked = ['a', 'b', 'c', 'd'].map((id) => ask(id));
    const queue = changedQueue(empty, asked, { ...no, limit: 2 }, 1);
    expect([ids(queue.running), ids(queue.waiting)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const next = changedQueue(queue, [end('b')], { ...no, limit: 2 }, 2);
    expect([ids(next.running), ids(next.waiting)]).toEqual([['a', 'c'], ['d']]);
    expect(ids(changedQueue(next, [], { ...no, limit: 1 }, 3).running)).toEqual(['a', 'c']);
    expect(ids(changedQueue(next, [], no, 3).running)).toEqual(['a', 'c', 'd']);
  });

  test('go to the key with the fewest running runs, and among equals to the run that waited longest', () => {
    verifies('execution.turns.fair');
    const busy = Array.from({ length: 20 }, (_, at) => ask(`busy${at}`, 'busy'));
    const queue = changedQueue(empty, [...busy, ask('rare', 'rare')], { ...no, limit: 2 }, 1);
    expect(ids(queue.running)).toEqual(['busy0', 'rare']);
    const later = changedQueue(queue, [ask('late', 'late'), end('busy0')], { ...no, limit: 2 }, 2);
    expect(ids(later.running)).toEqual(['rare', 'busy1']);
    expect(ids(changedQueue(later, [end('rare')], { ...no, limit: 2 }, 3).running)).toEqual(['busy1', 'late']);
  });

  test('are counted for each key', () => {
    verifies('execution.turns');
    const asked = [ask('a1', 'a'), ask('a2', 'a'), ask('b1', 'b'), ask('a3', 'a')];
    const queue = changedQueue(empty, asked, { limit: null, limit_per_key: 1 }, 1);
    expect([ids(queue.running), ids(queue.waiting)]).toEqual([
      ['a1', 'b1'],
      ['a2', 'a3'],
    ]);
    expect(ids(changedQueue(queue, [end('a1'), end('b1')], { limit: null, limit_per_key: 1 }, 2).running)).toEqual([
      'a2',
    ]);
  });

  test('are given once, however often a run asks or ends, and in whatever order the changes arrive', () => {
    verifies('execution.turns');
    const queue = changedQueue(empty, [ask('a'), ask('a'), ask('b')], { ...no, limit: 1 }, 1);
    expect(changedQueue(queue, [ask('a'), ask('b')], { ...no, limit: 1 }, 2)).toEqual(queue);
    const ended = changedQueue(queue, [end('a'), ask('a'), end('a')], { ...no, limit: 1 }, 2);
    expect([ids(ended.running), ids(ended.waiting)]).toEqual([['b'], []]);
  });

  test('are awaited by at most 10,000 runs', () => {
    verifies('execution.turns.bounded');
    const many = Array.from({ length: maxWaiting + 2 }, (_, at) => ask(`run${at}`, `key${at}`));
    const queue = changedQueue(empty, many, { ...no, limit: 1 }, 1);
    expect([queue.running.length, queue.waiting.length]).toEqual([1, maxWaiting]);
    expect(ids(queue.waiting)).not.toContain(`run${maxWaiting + 1}`);
  });
});
