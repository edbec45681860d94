import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createApp } from '../../../src/app.js';
import type { RouteTable } from '../../../src/http/route-table.js';
import { createCallbacks } from '../../../src/surfaces/callbacks/create-callbacks.js';
import { withBrowser } from '../../support/browser.js';
import { apiClient } from '../../support/client.js';
import { useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const api = apiClient(testRun().url);

interface Layer {
  route?: { path: string | string[]; methods: Record<string, boolean> };
  handle: Partial<RouteTable>;
}

/** `get /path/{param}` for each operation that the app has mounted. */
function servedOperations(): string[] {
  const app = createApp(deps, { baseUrl: () => 'http://localhost', condition: () => 'serving', version: '0' });
  const layers = (app.router as unknown as { stack: Layer[] }).stack;
  const operations = layers.flatMap(({ route, handle }) => {
    if (handle.routes) return handle.routes.map(({ method, path }) => `${method} ${path}`);
    const methods = Object.keys(route?.methods ?? {});
    // Routes for every method only answer 405. The reference itself is excluded as well.
    if (!route || typeof route.path !== 'string' || methods.length > 1) return [];
    return methods.map((method) => `${method} ${route.path as string}`.replace(/:(\w+)/g, '{$1}'));
  });
  // The receivers match the raw request target themselves, with the same data. Their own tests call each of them.
  const receivers = createCallbacks(deps, () => 'http://localhost').routes.map(
    ({ method, path }) => `${method} ${path}`,
  );
  return [...operations, ...receivers].sort();
}

function operationsOf(document: any): { name: string; path: string; operation: any }[] {
  return Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  );
}

/** All objects below `value`, including itself. */
function* objectsIn(value: unknown): Generator<Record<string, any>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, any>;
  for (const item of Object.values(value)) yield* objectsIn(item);
}

describe('GET /openapi.json', () => {
  test('is an OpenAPI 3.1 document of exactly the served routes', async () => {
    verifies('service.openapi');
    const { status, body } = await api.get('/openapi.json');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { openapi: expect.stringMatching(/^3\.1\./), servers: [{ url: expect.stringMatching(/^http/) }] },
    });
    expect(
      operationsOf(body)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(servedOperations());
  });

  test('is consistent: operation ids, path parameters, security schemes, references and schemas', async () => {
    verifies('service.openapi');
    const { body } = await api.get('/openapi.json');
    const operations = operationsOf(body);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? [])
        .filter((parameter: any) => parameter.in === 'path')
        .map((parameter: any) => parameter.name);
      expect({ path, declared: declared.sort() }).toEqual({ path, declared: inPath.sort() });
      for (const requirement of operation.security)
        for (const name of Object.keys(requirement)) expect(body.components.securitySchemes).toHaveProperty(name);
      for (const response of Object.values<any>(operation.responses))
        expect(response.description).toEqual(expect.any(String));
    }
    for (const { $ref } of objectsIn(body)) {
      if (typeof $ref !== 'string') continue;
      const target = $ref
        .slice(2)
        .split('/')
        .reduce((at: any, key) => at?.[key.replace(/~1/g, '/').replace(/~0/g, '~')], body);
      expect({ $ref, target }).toEqual({ $ref, target: expect.any(Object) });
    }
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'document', ...body });
    for (const name of Object.keys(body.components.schemas))
      expect(() => ajv.getSchema(`document#/components/schemas/${name}`)).not.toThrow();
  });

  test('matches the service: each operation without a credential is answered 401 or is public', async () => {
    const { body } = await api.get('/openapi.json');
    for (const { name, path, operation } of operationsOf(body)) {
      const method = name.split(' ')[0]?.toUpperCase() ?? '';
      if (operation.security.length === 0) continue;
      const { status } = await fetch(testRun().url + path.replace(/\{\w+\}/g, 'x'), { method });
      expect({ name, status }).toEqual({ name, status: 401 });
    }
  });
});

describe('GET /docs', () => {
  test('is a page that loads nothing from another host', async () => {
    verifies('service.docs');
    const page = await fetch(`${testRun().url}/docs`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(page.headers.get('content-security-policy')).not.toMatch(/https?:\/\/|script-src[^;]*\*/);
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(loaded.length).toBeGreaterThan(2);
    for (const address of loaded) {
      expect(address).toMatch(/^\/docs\//);
      expect((await fetch(testRun().url + address)).status).toBe(200);
    }
    expect(html).not.toMatch(/https?:\/\//);
  });

  test('calls the origin that served it, whatever address the document names', async () => {
    verifies('service.docs');
    const script = await (await fetch(`${testRun().url}/docs/start.js`)).text();
    let options: any;
    const SwaggerUIBundle = (given: unknown) => void (options = given);
    runInNewContext(script, { location: { origin: 'http://127.0.0.1:8080' }, URL, SwaggerUIBundle });
    expect(options.url).toBe('/openapi.json');
    const called = options.requestInterceptor({ url: 'http://localhost:8080/execute_flow?limit=1' });
    expect(called.url).toBe('http://127.0.0.1:8080/execute_flow?limit=1');
  });

  test('shows an operation with its example and its refusals in a browser, without overflow at any width', async () => {
    verifies('service.docs');
    const { url } = testRun();
    const size = (width: number) => ({ width, height: 900 });
    await withBrowser([url], { viewport: size(1280) }, async (page) => {
      await page.goto(`${url}/docs#/executions/postExecuteFlow`);
      const operation = page.locator('.opblock.is-open');
      await operation.locator('code', { hasText: 'plan_limit' }).waitFor({ timeout: 90_000 });
      expect(await operation.innerText()).toContain('Brief the newcomer');
      for (const width of [1280, 360]) {
        await page.setViewportSize(size(width));
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    });
  }, 240_000);
});

test.each(['/openapi.json', '/docs', '/docs/start.js'])('%s answers 405 with Allow to another method', async (path) => {
  const answer = await api.post(path, {});
  expect([answer.status, answer.headers.get('allow'), answer.body.error]).toEqual([405, 'GET', 'method_not_allowed']);
});

describe('health', () => {
  test('is reported without a credential', async () => {
    verifies('service.healthz', 'service.readyz');
    expect(await api.get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await api.get('/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready', dependencies: { temporal: 'up', mongodb: 'up', neo4j: 'up' } },
    });
  });
});
