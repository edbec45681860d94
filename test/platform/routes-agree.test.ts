import { describe, expect, test } from '@jest/globals';
import { platformApiKeyRoutes } from '../../src/platform/resources/api-key.js';
import { platformRoutes } from '../../src/platform/routes.js';
import { apiClient } from '../support/client.js';
import { contractRoutes, furtherRoutes, pendingRoutes } from '../support/contract-routes.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';

const deps = useDeps();
const routes = [...platformRoutes(deps, () => 'http://localhost'), ...platformApiKeyRoutes(deps)];
const named = (method: string, path: string) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`;
const served = routes.map(({ method, path }) => named(method, path)).sort();
const expected = [...contractRoutes.filter((route) => !pendingRoutes.includes(route)), ...furtherRoutes].sort();

describe('the routes of the platform API', () => {
  test('are those of the specification and the contract, each once, save the ones that are not built yet', () => {
    expect(served).toEqual(expected);
    expect(pendingRoutes.filter((route) => !contractRoutes.includes(route))).toEqual([]);
    expect(new Set(contractRoutes).size).toBe(contractRoutes.length);
  });

  test('are those of the OpenAPI document', async () => {
    const { body } = await apiClient(testRun().url).get('/openapi.json');
    const operations = Object.entries<Record<string, { security: object[] }>>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path, method, name: named(method, path) })),
    );
    const documented = operations.map(({ name }) => name);
    expect(served.filter((route) => !documented.includes(route))).toEqual([]);
    // Those of the other surfaces take no x-api-key.
    const byKey = operations.filter(({ path, method }) => JSON.stringify(body.paths[path][method].security).includes('apiKey')).map(({ name }) => name);
    expect(byKey.sort()).toEqual(platformRoutes(deps, () => 'http://localhost').map(({ method, path }) => named(method, path)).sort());
  });

  test.each(routes.map((route) => [named(route.method, route.path), route] as const))('answer: %s without a credential is 401', async (_name, { method, path }) => {
    const answer = await fetch(testRun().url + path.replace(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
    expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining({ error: 'invalid_token' })]);
  });
});
