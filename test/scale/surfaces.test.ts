import { beforeAll, expect, test } from '@jest/globals';
import { apiClient } from '../support/client.js';
import { createGatewayWorkspace } from '../support/gateway.js';
import { useDeps } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const surfaces = ['gateway', 'platform', 'callbacks'] as const;
type Surface = (typeof surfaces)[number];
const apis = new Map<Surface, Api>();
const products = surfaces.map((surface) => ({
  surface,
  product: ownProduct({ SURFACES: surface, DOWNSTREAM_PORT: '0' }),
}));
beforeAll(async () => {
  await Promise.all(products.map(async ({ surface, product }) => void apis.set(surface, await product.api())));
});

/** One path of each surface, and its answer if it is served. */
const paths: Record<Surface, { method: string; path: string; status: number }[]> = {
  gateway: [
    { method: 'POST', path: '/v1/docs', status: 200 },
    { method: 'POST', path: '/mcp', status: 400 },
    { method: 'GET', path: '/.well-known/oauth-authorization-server', status: 200 },
  ],
  platform: [
    { method: 'GET', path: '/v1/project', status: 200 },
    { method: 'GET', path: '/agentflow?projectID={projectID}', status: 200 },
  ],
  callbacks: [
    // Its secret is not configured.
    { method: 'POST', path: '/v1/catalog/om/webhook', status: 503 },
  ],
};

test.each(surfaces)('a process of the surface %s serves only that surface and the operation routes', async (own) => {
  verifies('env.surfaces');
  const url = apis.get(own)?.url ?? '';
  const { apiKey, projectID } = await createGatewayWorkspace(deps);
  const call = (method: string, path: string) =>
    fetch(url + path.replace('{projectID}', projectID), {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'x-api-key': apiKey,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      ...(method === 'POST' && { body: JSON.stringify({ topic: 'errors' }) }),
    });
  for (const [surface, entries] of Object.entries(paths)) {
    for (const { method, path, status } of entries) {
      const answer = await call(method, path);
      expect([surface, path, answer.status]).toEqual([surface, path, surface === own ? status : 404]);
      if (surface !== own)
        expect(await answer.json()).toMatchObject({ error: 'not_found', error_description: 'no such path' });
    }
  }
  // The console needs every surface that it calls.
  expect((await call('GET', '/console')).status).toBe(404);
  const { get } = apiClient(url);
  expect((await get('/healthz')).status).toBe(200);
  expect((await get('/metrics')).status).toBe(200);
  const described = Object.keys((await get('/openapi.json')).body.paths as object);
  expect(
    surfaces.filter((surface) => paths[surface].some(({ path }) => described.includes(path.split('?')[0] ?? ''))),
  ).toEqual([own]);
});

test('only the processes that accept callbacks have the internal listener', () => {
  verifies('env.surfaces');
  const listening = surfaces.filter((surface) => apis.get(surface)?.up.downstreamUrl !== undefined);
  expect(listening).toEqual(['callbacks']);
});
