import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';

interface WorldCase {
  name: string;
  /** The address of the public report or documentation. */
  source: string;
}

/** The cases of a folder of `test/world`: what real systems send, as data. */
export interface World<Case> {
  files: string[];
  /** Each case has its file, without the ending, and its place in the file. */
  cases: (Case & { file: string; at: number })[];
}

export function readWorld<Case extends WorldCase>(name: string): World<Case> {
  const folder = path.join(packageRoot, 'test/world', name);
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const cases = files.flatMap((file) =>
    (JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Case[]).map((each, at) => ({
      ...each,
      file: file.replace('.json', ''),
      at,
    })),
  );
  return { files, cases };
}

/** Expects at least so many files and cases, different titles, and a public source of each case. */
export function expectSources(
  { files }: Pick<World<WorldCase>, 'files'>,
  cases: readonly { title: string; source: string }[],
  least: { files: number; cases: number },
): void {
  expect(files.length).toBeGreaterThanOrEqual(least.files);
  expect(cases.length).toBeGreaterThanOrEqual(least.cases);
  expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  for (const { source } of cases) expect(source).toMatch(/^https:\/\//);
}
