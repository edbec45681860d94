import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/base/packages.js';
import { verifies } from '../../support/verifies.js';

/** The sections of RFC 9700 with requirements. */
const sections = [
  ...['2.1', '2.1.1', '2.1.2', '2.2.1', '2.2.2', '2.3', '2.4', '2.5', '2.6'],
  ...Array.from({ length: 17 }, (_, at) => `4.${at + 1}`),
];

const rows = readFileSync(path.join(packageRoot, 'docs/oauth-security.md'), 'utf8')
  .split('\n')
  .map((line) => /^\| (\d[\d.]*) \| (.+) \| `(.+)` "(.+)" \|$/.exec(line))
  .filter((row) => row !== null);

test('the checklist in docs answers each section once', () => {
  verifies('oauth.security-practice');
  expect(rows.map(([, section]) => section)).toEqual(sections);
});

test.each(rows.map(([, section, , file, title]) => [section, file, title]))(
  'section %s names an existing test: %s %s',
  (_, file = '', title = '') => {
    verifies('oauth.security-practice');
    const source = readFileSync(path.join(packageRoot, 'test/surfaces/oauth', file), 'utf8');
    expect(source).toContain(title);
  },
);
