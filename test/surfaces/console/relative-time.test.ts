import { expect, test } from '@jest/globals';
import { isWithinWeek, relativeText } from '../../../console/src/relative-time.js';
import { verifies } from '../../support/verifies.js';

test.each([
  [0, 'just now'],
  [-59, 'just now'],
  [-60, '1 min ago'],
  [-3599, '59 min ago'],
  [-3600, '1 h ago'],
  [-86_399, '23 h ago'],
  [-86_400, undefined],
  [30, 'in a moment'],
  [90, 'in 1 min'],
  [7200, 'in 2 h'],
  [86_400, undefined],
])('a time %d s from now is %s', (distance, text) => {
  verifies('console.time-zone');
  expect(relativeText(1_800_000_000 + distance, 1_800_000_000)).toBe(text);
});

test('the weekday names the day of a time within six days', () => {
  verifies('console.time-zone');
  expect([-518_399, 518_399, 518_400].map((distance) => isWithinWeek(1_800_000_000 + distance, 1_800_000_000))).toEqual(
    [true, true, false],
  );
});
