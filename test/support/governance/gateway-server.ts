import { createServer } from 'node:http';
import express from 'express';
import type { Principal } from '../../../src/auth/principal.js';
import type { Deps } from '../../../src/domain/deps.js';
import type { Route } from '../../../src/surfaces/rest/define-route.js';
import { errorHandler } from '../../../src/surfaces/rest/error-answers.js';
import { requestLog } from '../../../src/http/request-log.js';
import { traced } from '../../../src/http/trace.js';
import { mountRoutes, type SurfaceRules } from '../../../src/surfaces/rest/mount.js';
import { apiClient, type ApiClient } from '../client.js';
import { listen } from '../ports.js';

export interface RouteServer {
  url: string;
  as(principal: Partial<Principal>): ApiClient;
  close(): Promise<void>;
}

/** The caller that the header of {@link RouteServer.as} names. */
const named: SurfaceRules['authenticate'] = async (req) => JSON.parse(req.get('x-principal') ?? '') as Principal;

/** Serves routes over HTTP as the product mounts them. By default, callers are who they say. */
export async function serveRoutes(deps: Deps, routes: readonly Route[], authenticate = named): Promise<RouteServer> {
  const app = express();
  app.set('query parser', 'simple');
  app.use(requestLog(deps.log));
  app.use(traced(deps.tracing));
  mountRoutes(app, routes, {
    deps,
    baseUrl: () => 'http://gateway.test',
    authenticate,
    resolveScope: async (principal) => principal,
    checkScope: () => undefined,
  });
  app.use(errorHandler);
  const { url, close } = await listen(createServer(app));
  return {
    url,
    as: (principal) =>
      apiClient(url, {
        'x-principal': JSON.stringify({ kind: 'user_jwt', userId: 'user', role: 'OWNER', grants: [], ...principal }),
      }),
    close,
  };
}
