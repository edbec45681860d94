import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { memberRoles, rightNames, rights, roleTable } from '../../src/auth/grants.js';
import { verifies } from '../support/verifies.js';

const cells = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const words = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word);

test('the guide shows the roles with their rights, and the rights with their grants, as the code has them', async () => {
  verifies('roles.guide');
  const guide = await readFile('docs/guides/accounts.md', 'utf8');
  const tableAfter = (head: string) => {
    const lines = guide.slice(guide.indexOf(head)).split('\n');
    return lines.slice(2, lines.indexOf('')).map(cells);
  };
  expect(guide).toContain(`| role | applies to | ${rightNames.join(' | ')} |`);
  expect(tableAfter('| role | applies to |')).toEqual(
    memberRoles.map((role) => [
      `\`${role}\``,
      roleTable[role].appliesTo,
      ...rightNames.map((right) => ((roleTable[role].rights as readonly string[]).includes(right) ? 'yes' : '')),
    ]),
  );
  expect(
    tableAfter('| right | permits people to |').map(([right, does, grants]) => [words(right)[0], does, words(grants)]),
  ).toEqual(rightNames.map((right) => [right, rights[right].does, [...rights[right].grants]]));
});
