import { expect, test } from '@jest/globals';
import { BSON } from 'mongodb';
import { documentBounds, partsOf, refuseOverlong } from '../../../src/domain/memories/rules.js';

const turns = (count: number, length: number) => Array.from({ length: count }, () => ({ text: 'é'.repeat(length) }));

test('a document of many short sections is refused before its record would be too large for MongoDB', () => {
  const largest = turns(documentBounds.turns, documentBounds.characters / documentBounds.turns);
  expect(() => refuseOverlong(largest, documentBounds)).not.toThrow();
  // Sealed, the turns are a third larger.
  const bytes = Buffer.byteLength(JSON.stringify(largest.map((turn) => ({ speaker: null, ...turn, at: 1.5e9 }))));
  const record = (bytes * 4) / 3 + BSON.calculateObjectSize({ parts: partsOf(largest, true) });
  expect(record).toBeLessThan(16 * 1024 * 1024);
  expect(() => refuseOverlong(turns(documentBounds.turns + 1, 1), documentBounds)).toThrow(
    `text: has ${documentBounds.turns + 1} sections; at most ${documentBounds.turns} are allowed`,
  );
});
