import { describe, expect, test } from '@jest/globals';
import { createTail } from '../../../src/domain/executions/tail.js';

function tailWith(count: number, { from = 0, forgettable = Infinity, text = '' } = {}) {
  const tail = createTail(from, ({ seq }: { seq: number; text?: string }) => seq);
  for (let seq = from + 1; seq <= from + count; seq += 1) tail.add({ seq, text }, forgettable);
  return tail;
}

describe('the tail of a list', () => {
  test('returns the items after a position', () => {
    const tail = tailWith(3, { from: 10 });
    expect(tail.last).toBe(13);
    expect(tail.after(10)?.map(({ seq }) => seq)).toEqual([11, 12, 13]);
    expect(tail.after(12)?.map(({ seq }) => seq)).toEqual([13]);
    expect(tail.after(13)).toEqual([]);
    expect(tail.after(99)).toEqual([]);
    expect(tail.after(9)).toBeUndefined();
  });

  test('is empty at first', () => {
    expect(tailWith(0, { from: 4 }).after(4)).toEqual([]);
    expect(tailWith(0, { from: 4 }).after(3)).toBeUndefined();
  });

  test('forgets the oldest items beyond 500', () => {
    const tail = tailWith(700);
    expect(tail.after(199)).toBeUndefined();
    expect(tail.after(200)).toHaveLength(500);
  });

  test('forgets the oldest items beyond a million characters, but never the newest', () => {
    const tail = tailWith(10, { text: 'x'.repeat(300_000) });
    expect(tail.after(6)).toBeUndefined();
    expect(tail.after(7)).toHaveLength(3);
    expect(tailWith(2, { text: 'x'.repeat(3_000_000) }).after(1)).toHaveLength(1);
  });

  test('keeps items that exist nowhere else', () => {
    const tail = tailWith(700, { forgettable: 50 });
    expect(tail.after(49)).toBeUndefined();
    expect(tail.after(50)).toHaveLength(650);
  });
});
