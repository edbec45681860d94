import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll } from '@jest/globals';
import express, { type Express } from 'express';
import helmet from 'helmet';
import { z } from 'zod';
import { authenticateBearer } from '../../../src/auth/authenticate-bearer.js';
import { resolveScope } from '../../../src/auth/resolve-scope.js';
import type { Deps } from '../../../src/domain/deps.js';
import { apiKeyRoutes } from '../../../src/surfaces/gateway/routes/api-keys.js';
import { jwksRoutes } from '../../../src/surfaces/gateway/routes/jwks.js';
import { defineRoute } from '../../../src/surfaces/rest/define-route.js';
import { errorHandler } from '../../../src/surfaces/rest/error-answers.js';
import { requestLog } from '../../../src/http/request-log.js';
import { traced } from '../../../src/http/trace.js';
import { mountRoutes } from '../../../src/surfaces/rest/mount.js';
import { createOauthRouter, type OauthOptions } from '../../../src/surfaces/oauth/create-oauth.js';
import { createOauth, type Oauth } from '../../../src/auth/oauth/create-oauth.js';
import type { HttpClient } from '../../../src/outbound/http-client.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { useDeps } from '../../support/fixture.js';
import { listen, type Listening } from '../../support/ports.js';

export interface OauthServer {
  deps: Deps & { oauth: Oauth };
  /** Its address. */
  url: string;
  /** The issuer: `url` unless the options say otherwise. */
  baseUrl: string;
  /** A client with its own address for the rate limits. */
  client(): ApiClient;
  as(credential: string): ApiClient;
}

interface OauthServerOptions {
  baseUrl?: () => string;
  limits?: OauthOptions['limits'];
  unusedLimits?: OauthOptions['unusedLimits'];
  http?: HttpClient;
  env?: Record<string, string>;
}

/**
 * The authorization server with routes that accept its tokens, over HTTP, with its own stores and caches: two of these
 * servers share as little as two processes. `GET /probe` returns the principal and requires `svc:query.read`,
 * `GET /probe/run` requires `svc:agent.run`.
 */
export function useOauthServer(options: OauthServerOptions = {}): OauthServer {
  const base = useDeps(options.env);
  const deps = { ...base, ...(options.http && { http: options.http }), oauth: createOauth(base) };
  let server: Listening;
  const url = () => server.url;
  const baseUrl = () => options.baseUrl?.() ?? url();
  beforeAll(async () => {
    server = await listen(createServer(appOf(deps, baseUrl, options)));
  });
  afterAll(() => server.close());
  const address = { 'x-forwarded-for': randomAddress() };
  return {
    deps,
    get url() {
      return url();
    },
    get baseUrl() {
      return baseUrl();
    },
    client: () => apiClient(url(), address),
    as: (credential) => apiClient(url(), { authorization: `Bearer ${credential}` }),
  };
}

function appOf(
  deps: OauthServer['deps'],
  baseUrl: () => string,
  { limits, unusedLimits }: OauthServerOptions,
): Express {
  const app = express();
  app.set('query parser', 'simple');
  app.set('trust proxy', true);
  app.use(requestLog(deps.log));
  app.use(traced(deps.tracing));
  app.use(helmet());
  app.use(createOauthRouter(deps, { baseUrl, ...(limits && { limits }), ...(unusedLimits && { unusedLimits }) }));
  mountRoutes(app, [...jwksRoutes(deps), ...apiKeyRoutes, ...probes(deps)], {
    deps,
    baseUrl,
    authenticate: (req) => authenticateBearer(deps, req.headersDistinct.authorization, baseUrl()),
    resolveScope: async (principal) => principal,
    checkScope: () => undefined,
  });
  app.use(errorHandler);
  return app;
}

function probes(deps: Deps) {
  const response = { schema: z.unknown(), description: 'The principal.' };
  const probe = (path: string, permission: 'svc:query.read' | 'svc:agent.run') =>
    defineRoute({
      method: 'get',
      path,
      permission,
      tag: 'test',
      summary: 'The principal',
      response,
      handler: ({ ctx }) => resolveScope(deps, ctx.principal, ctx.req.get('x-service-workspace')),
    });
  return [probe('/probe', 'svc:query.read'), probe('/probe/run', 'svc:agent.run')];
}

/** Documentation addresses (RFC 3849), so that no two tests share a rate limit. */
export function randomAddress(): string {
  return `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`;
}
