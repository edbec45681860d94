import type { Oauth } from '../../auth/oauth/create-oauth.js';
import { Router, type RequestHandler } from 'express';
import type { AuthDeps } from '../../auth/create-auth.js';
import { clientDocument, clientDocumentPath } from '../../domain/mcp-servers/rules/client-document.js';
import type { Config } from '../../config.js';
import { cors } from '../../http/cors.js';
import { jsonBody } from '../../http/json-body.js';
import { onlyMethods } from '../../http/method-not-allowed.js';
import type { HttpClient } from '../../outbound/http-client.js';
import { answerAuthorization, showAuthorization } from './authorize/authorize.js';
import { type AuthorizeDeps } from './authorize/visit.js';
import { createBrowserSessions } from '../browser/browser-session.js';
import { createVerifyAssertion } from './clients/client-assertion.js';
import { createAuthenticateClient } from './clients/client-authentication.js';
import { createFindClient } from './clients/client-document.js';
import { createClients, type UnusedLimits } from '../../auth/oauth/clients.js';
import { registerHandler } from './clients/register.js';
import { jsonErrors, pageErrors } from './error-handlers.js';
import { formBody } from './form-body.js';
import { authorizationServerMetadata, protectedResourceMetadata, serveDocument } from './metadata.js';
import { createRateLimit, type RateLimitOptions } from './rate-limit.js';
import { appSchemesWith } from '../../auth/oauth/redirect-uri.js';
import { resourcesOf } from '../../auth/oauth/resources.js';
import { createCodes } from '../../auth/oauth/codes.js';
import { revokeHandler } from './token/revoke.js';
import { tokenHandler } from './token/token.js';

interface OauthDeps extends AuthDeps, Pick<AuthorizeDeps, 'governance'> {
  config: Pick<Config, 'allowPrivateTargets' | 'corsOrigins' | 'oauthAppSchemes'>;
  http: HttpClient;
  oauth: Oauth;
}

export interface OauthOptions {
  /** Returns the public URL, which is the issuer. It is known after the port is bound. */
  baseUrl(): string;
  limits?: Partial<Record<RateLimitOptions['what'], { max: number; windowSeconds: number }>>;
  unusedLimits?: UnusedLimits;
}

const defaultLimits = {
  registrations: { max: 60, windowSeconds: 600 },
  // Only failures count, so that clients with valid requests are not blocked by others that share their address.
  'failed token requests': { max: 60, windowSeconds: 60 },
  'client documents': { max: 60, windowSeconds: 600 },
} as const;

/** Creates the authorization server at the paths of the specification. Mount it before any body parser. */
export function createOauthRouter(deps: OauthDeps, { baseUrl, limits = {}, unusedLimits }: OauthOptions): Router {
  const { collections } = deps.mongo;
  const limit = (what: RateLimitOptions['what']) =>
    createRateLimit(collections, { what, ...defaultLimits[what], ...limits[what] });
  const clients = createClients(collections, unusedLimits);
  const codes = createCodes(collections);
  const { grants, access } = deps.oauth;
  const allowLoopbackHttp = deps.config.allowPrivateTargets;
  const appSchemes = appSchemesWith(deps.config.oauthAppSchemes);
  const findClient = createFindClient({
    clients,
    http: deps.http,
    fetches: limit('client documents'),
    baseUrl,
    allowLoopbackHttp,
    appSchemes,
  });
  const authenticateClient = createAuthenticateClient({
    ...{ clients, findClient },
    verify: createVerifyAssertion({
      http: deps.http,
      counters: collections.oauth_counters,
      baseUrl,
      allowLoopbackHttp,
    }),
  });
  const tokenDeps = { ...deps, authenticateClient, clients, codes, grants, baseUrl };
  const authorizeDeps = {
    ...deps,
    clients,
    codes,
    findClient,
    browsers: createBrowserSessions(deps.auth.box, { cookie: 'svc_oauth', sameSite: 'lax', baseUrl }),
    baseUrl,
  };

  const router = Router({ strict: true, caseSensitive: true });
  const origins = deps.config.corsOrigins ?? ['*'];
  const endpoint = (path: string, handlers: RequestHandler[]) => {
    router.all(path, cors({ origins, methods: 'POST' }));
    router.post(path, ...handlers);
    router.all(path, onlyMethods('POST'));
  };
  mountDiscovery(router, baseUrl, origins);
  endpoint('/oauth/register', [
    ...jsonBody('64kb'),
    registerHandler({ clients, registrations: limit('registrations'), appSchemes }),
  ]);
  endpoint('/oauth/token', [...formBody('16kb'), tokenHandler(tokenDeps)]);
  endpoint('/oauth/revoke', [...formBody('16kb'), revokeHandler(tokenDeps, access)]);
  router.get('/oauth/authorize', showAuthorization(authorizeDeps));
  router.post('/oauth/authorize', ...formBody('64kb'), answerAuthorization(authorizeDeps));
  router.all('/oauth/authorize', onlyMethods('GET, POST'));
  router.use('/oauth/authorize', pageErrors);
  router.use(['/oauth/register', '/oauth/token', '/oauth/revoke'], jsonErrors(limit('failed token requests')));
  return router;
}

function mountDiscovery(router: Router, baseUrl: () => string, origins: readonly string[]): void {
  const serve = (path: string, document: () => object) => {
    router.all(path, cors({ origins, methods: 'GET' }));
    router.get(path, serveDocument(document));
    router.all(path, onlyMethods('GET'));
  };
  serve('/.well-known/oauth-authorization-server', () => authorizationServerMetadata(baseUrl()));
  // This product is also a client of the authorization servers of MCP servers.
  serve(clientDocumentPath, () => clientDocument(baseUrl()));
  const paths = resourcesOf('');
  // Clients compare the resource with the address that they call, which may end with a slash (RFC 9728, 3.3).
  for (const path of [...paths, ...paths.map((each) => `${each}/`)]) {
    serve(`/.well-known/oauth-protected-resource${path}`, () => protectedResourceMetadata(baseUrl(), baseUrl() + path));
  }
}
