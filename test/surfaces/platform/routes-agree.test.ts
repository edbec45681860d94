import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createApp } from '../../../src/app.js';
import type { Mounted } from '../../../src/http/route-table.js';
import { packageRoot } from '../../../src/base/packages.js';
import { createCallbacks } from '../../../src/surfaces/callbacks/create-callbacks.js';
import { gatewayRoutes } from '../../../src/surfaces/gateway/gateway-routes.js';
import { catalog } from '../../../src/catalog.js';
import { platformApiKeyRoutes } from '../../../src/surfaces/gateway/routes/api-keys.js';
import { platformRoutes } from '../../../src/surfaces/platform/resources.js';
import { apiClient } from '../../support/client.js';
import { contractRoutes, furtherRoutes } from '../../support/contract-routes.js';
import { useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const architecture = readFileSync(path.join(packageRoot, 'docs/architecture.md'), 'utf8');
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

test('every route performs an operation, or the architecture names it among those that do not', () => {
  verifies('operation.every-route', 'operation.grant');
  const baseUrl = () => 'http://localhost';
  const all = [...routes, ...gatewayRoutes(deps, baseUrl)];
  const named = all.flatMap(({ operation, tool }) => operation ?? tool?.cases.map((each) => each.operation) ?? []);
  const unknown = named.filter(({ effect, name }) => effect !== 'read' && !catalog.find(name));
  expect(unknown.map(({ name }) => name)).toEqual([]);

  const textOf = ({ method, path }: { method: string; path: string }) => `${method.toUpperCase()} ${path}`;
  const mounted = tablesOf(createApp(deps, { baseUrl, condition: () => 'serving', version: 'test' }).router);
  const performing = all.filter(({ operation, tool }) => operation ?? tool).map(textOf);
  const receivers = createCallbacks(deps, baseUrl).routes.map(textOf);
  const without = [...new Set([...mounted.map(textOf), ...receivers])].filter((route) => !performing.includes(route));
  const [, section = ''] = architecture.split('## Routes without an operation');
  const documented = [...(section.split('\n## ')[0] ?? '').matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, route]) => route);
  expect(without.sort()).toEqual(documented.sort());
});

/** The routes of all tables that are mounted on the router. */
function tablesOf({ stack }: { stack: any[] }): readonly Mounted[] {
  return stack.flatMap(({ handle }) => handle?.routes ?? (handle?.stack ? tablesOf(handle) : []));
}
