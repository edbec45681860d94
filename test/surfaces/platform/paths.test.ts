import { expect, test } from '@jest/globals';
import { platformRoutes } from '../../../src/surfaces/platform/resources.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const isProject = (path: string) => /^\/v1\/project(\/|$)/.test(path);

/** Uses a method that no route accepts: 405 if the path is served, otherwise 404. */
async function statusOf(path: string): Promise<number> {
  return (await fetch(testRun().url + path.replace(/\{\w+\}/g, 'x'), { method: 'OPTIONS' })).status;
}

test('platform routes have no version; only the project routes are below /v1/project', async () => {
  verifies('versioning.platform-paths');
  const paths = [...new Set(platformRoutes.map(({ path }) => path))];
  expect(paths.filter((path) => /^\/v\d/.test(path) !== isProject(path))).toEqual([]);
  expect(paths.some(isProject)).toBe(true);
  // The tool `inbox` of the gateway has the route /v1/inbox.
  for (const path of paths.filter((each) => each !== '/inbox')) {
    const other = isProject(path) ? path.slice('/v1'.length) : `/v1${path}`;
    expect({ path, served: await statusOf(path), other: await statusOf(other) }).toEqual({
      path,
      served: 405,
      other: 404,
    });
  }
});
