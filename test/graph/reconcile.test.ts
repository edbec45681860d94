import { describe, expect, test } from '@jest/globals';
import { reconcile, type StoredStatement, type Statement } from '../../src/graph/store/reconcile.js';
import { verifies } from '../support/verifies.js';

const known = (object: string, valid_from: number, valid_to: number | null = null): StoredStatement => ({
  id: `${object}${valid_from}`,
  object,
  confidence: 1,
  valid_from,
  valid_to,
});
const stated = (object: string, valid_from: number, valid_to: number | null = null): Statement => ({
  object,
  confidence: 1,
  valid_from,
  valid_to,
});

function change(before: StoredStatement[], statement: Statement) {
  const { superseded, stated: after } = reconcile(before, statement);
  return {
    gone: superseded.map(({ id }) => id),
    now: after.map(({ object, valid_from, valid_to }) => [object, valid_from, valid_to]),
  };
}

describe('the effect of a new statement on known facts', () => {
  test('adds the first statement', () => {
    expect(change([], stated('Ann', 10))).toEqual({ gone: [], now: [['Ann', 10, null]] });
  });

  test('closes a fact with another object when the new one begins', () => {
    verifies('gateway.save-context.facts');
    expect(change([known('Ann', 10)], stated('Bob', 20))).toEqual({
      gone: ['Ann10'],
      now: [
        ['Ann', 10, 20],
        ['Bob', 20, null],
      ],
    });
  });

  test('ends an earlier fact that is stated later when the known one begins', () => {
    expect(change([known('Bob', 20)], stated('Ann', 10))).toEqual({ gone: [], now: [['Ann', 10, 20]] });
  });

  test('leaves a gap if the statement has an end', () => {
    expect(change([known('Ann', 10)], stated('Bob', 20, 30))).toEqual({
      gone: ['Ann10'],
      now: [
        ['Ann', 10, 20],
        ['Ann', 30, null],
        ['Bob', 20, 30],
      ],
    });
  });

  test('replaces a fact with another object that begins at the same time', () => {
    expect(change([known('Ann', 10)], stated('Bob', 10))).toEqual({ gone: ['Ann10'], now: [['Bob', 10, null]] });
  });

  test('changes nothing if the fact is known, and merges adjacent periods', () => {
    expect(change([known('Ann', 10)], stated('Ann', 20))).toEqual({ gone: [], now: [] });
    expect(change([known('Ann', 10, 20)], stated('Ann', 20))).toEqual({ gone: ['Ann10'], now: [['Ann', 10, null]] });
    expect(change([known('Ann', 10, 20)], stated('Ann', 30))).toEqual({ gone: [], now: [['Ann', 30, null]] });
  });

  test('changes nothing if an earlier fact is stated again after a later one has closed it', () => {
    const before = [known('Ann', 10, 20), known('Bob', 20)];
    expect(change(before, stated('Ann', 10))).toEqual({ gone: [], now: [] });
    expect(change(before, stated('Ann', 15))).toEqual({ gone: [], now: [] });
  });

  test('never holds two objects at one time, in any order of statements', () => {
    for (let round = 0; round < 300; round += 1) {
      let facts: StoredStatement[] = [];
      for (let step = 0; step < 8; step += 1) {
        const from = (round * 7 + step * 13) % 29;
        const statement = stated(
          'ABC'.charAt((round + step * step) % 3),
          from,
          (round + step) % 3 === 0 ? from + 1 + (round % 9) : null,
        );
        const { superseded, stated: after } = reconcile(facts, statement);
        facts = [
          ...facts.filter((fact) => !superseded.includes(fact)),
          ...after.map((fact, at) => ({ ...fact, id: `${round}.${step}.${at}` })),
        ];
      }
      for (let time = 0; time < 45; time += 1) {
        const held = facts.filter(({ valid_from, valid_to }) => valid_from <= time && time < (valid_to ?? Infinity));
        expect(held.length).toBeLessThanOrEqual(1);
      }
    }
  });
});
