import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gatewayRoutes } from '../../src/surfaces/gateway/gateway-routes.js';
import { platformRoutes } from '../../src/surfaces/platform/resources.js';
import { useDeps } from '../support/fixture.js';
import { principalOf } from '../support/governance/approvals.js';
import { serveRoutes, type RouteServer } from '../support/governance/gateway-server.js';
import { kernelCall } from '../support/governance/kernel-call.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const routes = [...platformRoutes, ...gatewayRoutes(deps, () => 'http://localhost')].filter(
  ({ operation }) => operation !== undefined,
);
const granted = routes.filter(({ permission }) => permission !== 'any');
const stranger = principalOf('VIEWER', { grants: [] });

let server: RouteServer;
beforeAll(async () => {
  server = await serveRoutes(deps, routes);
});
afterAll(() => server.close());

describe('a caller without the grant of an operation', () => {
  test.each(granted.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const))(
    'is refused by %s',
    async (_name, { method, path }) => {
      verifies('operation.grant');
      const answer = await server.as(stranger)[method](path.replace(/\{\w+\}/g, 'x'));
      expect(answer).toMatchObject({ status: 403, body: { error: expect.stringMatching(/^S2:|^access_denied$/) } });
    },
  );

  test('is refused by the kernel, whichever surface calls it', async () => {
    verifies('operation.grant');
    let ran = false;
    const call = kernelCall({ principal: stranger, run: async () => ((ran = true), { body: {} }) });
    const performed = await deps.kernel.perform({ ...call, entrance: 'ingest', authenticate: async () => stranger });
    expect(performed).toMatchObject({ error: { code: 'scope_denied' }, stage: 'S2:resolve-scope' });
    expect(ran).toBe(false);
  });
});
