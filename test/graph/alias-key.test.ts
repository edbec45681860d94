import { expect, test } from '@jest/globals';
import { aliasKey } from '../../src/graph/memory/resolve.js';

test('the key of an alias fits into the index of the graph, whatever the name', () => {
  const longest = '\uFDFA'.repeat(500);
  expect(longest.normalize('NFKC')).toHaveLength(9000);
  expect(Buffer.byteLength(aliasKey('p'.repeat(36), 't'.repeat(100), longest))).toBeLessThan(8000);
  expect(aliasKey('p', 'T', 'Ａda  LOVELACE')).toBe(aliasKey('p', 'T', 'ada lovelace'));
});
