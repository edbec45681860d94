import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Principal } from '../../../src/auth/principal.js';
import type { Deps } from '../../../src/domain/deps.js';
import type { Route } from '../../../src/surfaces/rest/define-route.js';
import { errorHandler } from '../../../src/surfaces/rest/error-answers.js';
import { requestLog } from '../../../src/http/request-log.js';
import { traced } from '../../../src/http/trace.js';
import { mountRoutes } from '../../../src/surfaces/rest/mount.js';
import { apiClient, type ApiClient } from '../client.js';

export interface RouteServer {
  as(principal: Partial<Principal>): ApiClient;
  close(): Promise<void>;
}

/** Serves routes over HTTP as the product mounts them, to callers who are who they say. */
export async function serveRoutes(deps: Deps, routes: readonly Route[]): Promise<RouteServer> {
  const app = express();
  app.use(requestLog(deps.log));
  app.use(traced(deps.tracing));
  mountRoutes(app, routes, {
    deps,
    baseUrl: () => 'http://gateway.test',
    authenticate: async (req) => JSON.parse(req.get('x-principal') ?? '') as Principal,
    checkScope: () => undefined,
  });
  app.use(errorHandler);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    as: (principal) =>
      apiClient(`http://127.0.0.1:${port}`, {
        'x-principal': JSON.stringify({ kind: 'user_jwt', userId: 'user', role: 'OWNER', grants: [], ...principal }),
      }),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
