import { describe, expect, test } from '@jest/globals';
import { createGateway } from '../../../src/surfaces/gateway/create-gateway.js';
import { catalog } from '../../../src/domain/operations.js';
import { platformApiKeyRoutes } from '../../../src/surfaces/gateway/routes/api-keys.js';
import { platformRoutes } from '../../../src/surfaces/platform/routes.js';
import { apiClient } from '../../support/client.js';
import { contractRoutes, furtherRoutes } from '../../support/contract-routes.js';
import { useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const routes = [...platformRoutes, ...platformApiKeyRoutes];
const named = (method: string, path: string) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`;
const served = routes.map(({ method, path }) => named(method, path)).sort();
const expected = [...contractRoutes, ...furtherRoutes].sort();

describe('the routes of the platform API', () => {
  test('are those of the specification and the contract, each once', () => {
    verifies('platform.routes-agree');
    expect(served).toEqual(expected);
    expect(new Set(contractRoutes).size).toBe(contractRoutes.length);
  });

  test('are those of the OpenAPI document', async () => {
    verifies('platform.routes-agree');
    const { body } = await apiClient(testRun().url).get('/openapi.json');
    const operations = Object.entries<Record<string, { security: object[] }>>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path, method, name: named(method, path) })),
    );
    const documented = operations.map(({ name }) => name);
    expect(served.filter((route) => !documented.includes(route))).toEqual([]);
    // Routes of other surfaces do not accept x-api-key.
    const byKey = operations
      .filter(({ path, method }) => JSON.stringify(body.paths[path][method].security).includes('apiKey'))
      .map(({ name }) => name);
    expect(byKey.sort()).toEqual(
      platformRoutes
        .filter(({ permission }) => permission !== 'public')
        .map(({ method, path }) => named(method, path))
        .sort(),
    );
  });

  test.each(
    routes
      .filter(({ permission }) => permission !== 'public')
      .map((route) => [named(route.method, route.path), route] as const),
  )('require a credential: %s without one is answered 401', async (_name, { method, path }) => {
    const answer = await fetch(testRun().url + path.replace(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
    expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining({ error: 'invalid_token' })]);
  });
});

test('every route that changes something names an operation that rules know', () => {
  verifies('operation.every-route', 'operation.grant');
  const gateway = createGateway(deps, () => 'http://localhost').routes;
  // A person's own password is theirs to change, whatever the policies say, and is audited.
  const own = ['POST /v1/auth/password'];
  const changing = [...routes, ...gateway].filter(
    ({ method, permission }) => method !== 'get' && permission !== 'public',
  );
  const unnamed = changing
    .filter(({ operation }) => operation === undefined)
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(unnamed).toEqual(own);
  const names = changing.flatMap(({ operation }) => (operation && operation.effect !== 'read' ? operation.name : []));
  expect(names.filter((name) => !catalog.find(name))).toEqual([]);
});
