import { expect, test } from '@jest/globals';
import { duration } from '../../../src/surfaces/console/pages/parts.js';

test.each([
  [-1, '0 ms'],
  [0.0124, '12 ms'],
  [0.9996, '1 s'],
  [5, '5 s'],
  [59.94, '59.9 s'],
  [59.96, '1 min 0 s'],
  [119.6, '2 min 0 s'],
  [3599.7, '1 h 0 min'],
  [90_061, '25 h 1 min'],
])('%d seconds are shown as %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});
