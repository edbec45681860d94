import { expect, test } from '@jest/globals';
import { platformRoutes } from '../../src/platform/routes.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const isProject = (path: string) => /^\/v1\/project(\/|$)/.test(path);

/** By a method that no route takes: 405 where the path is served, 404 where it is not. */
async function statusOf(path: string): Promise<number> {
  return (await fetch(testRun().url + path.replace(/\{\w+\}/g, 'x'), { method: 'OPTIONS' })).status;
}

test('platform routes answer without a version, the project routes alone below /v1/project', async () => {
  verifies('versioning.platform-paths');
  const paths = [...new Set(platformRoutes(deps, () => 'http://localhost').map(({ path }) => path))];
  expect(paths.filter((path) => /^\/v\d/.test(path) !== isProject(path))).toEqual([]);
  expect(paths.some(isProject)).toBe(true);
  for (const path of paths) {
    const other = isProject(path) ? path.slice('/v1'.length) : `/v1${path}`;
    expect({ path, served: await statusOf(path), other: await statusOf(other) }).toEqual({ path, served: 405, other: 404 });
  }
});
