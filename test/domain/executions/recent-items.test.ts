import { describe, expect, test } from '@jest/globals';
import { createRecentItems } from '../../../src/domain/executions/recent-items.js';

function recentItems(count: number, { from = 0, forgettable = Infinity, text = '' } = {}) {
  const recent = createRecentItems(from, ({ seq }: { seq: number; text?: string }) => seq);
  for (let seq = from + 1; seq <= from + count; seq += 1) recent.add({ seq, text }, forgettable);
  return recent;
}

describe('the newest items of a list', () => {
  test('returns the items after a position', () => {
    const recent = recentItems(3, { from: 10 });
    expect(recent.last).toBe(13);
    expect(recent.after(10)?.map(({ seq }) => seq)).toEqual([11, 12, 13]);
    expect(recent.after(12)?.map(({ seq }) => seq)).toEqual([13]);
    expect(recent.after(13)).toEqual([]);
    expect(recent.after(99)).toEqual([]);
    expect(recent.after(9)).toBeUndefined();
  });

  test('is empty at first', () => {
    expect(recentItems(0, { from: 4 }).after(4)).toEqual([]);
    expect(recentItems(0, { from: 4 }).after(3)).toBeUndefined();
  });

  test('forgets the oldest items beyond 500', () => {
    const recent = recentItems(700);
    expect(recent.after(199)).toBeUndefined();
    expect(recent.after(200)).toHaveLength(500);
  });

  test('forgets the oldest items beyond a million characters, but never the newest', () => {
    const recent = recentItems(10, { text: 'x'.repeat(300_000) });
    expect(recent.after(6)).toBeUndefined();
    expect(recent.after(7)).toHaveLength(3);
    expect(recentItems(2, { text: 'x'.repeat(3_000_000) }).after(1)).toHaveLength(1);
  });

  test('keeps items that exist nowhere else', () => {
    const recent = recentItems(700, { forgettable: 50 });
    expect(recent.after(49)).toBeUndefined();
    expect(recent.after(50)).toHaveLength(650);
  });
});
