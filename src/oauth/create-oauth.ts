import { Router, type RequestHandler } from 'express';
import type { AuthDeps } from '../auth/create-auth.js';
import type { Config } from '../config.js';
import { jsonBody } from '../http/json-body.js';
import { onlyMethods } from '../http/method-not-allowed.js';
import type { HttpClient } from '../outbound/http-client.js';
import { answerAuthorization, showAuthorization, type AuthorizeDeps } from './authorize/authorize.js';
import { createBrowserSessions } from '../auth/browser/browser-session.js';
import { createFindClient } from './clients/client-document.js';
import { createClients } from './clients/clients.js';
import { registerHandler } from './clients/register.js';
import { openCors } from './cors.js';
import { jsonErrors, pageErrors } from './error-handlers.js';
import { formBody } from './form-body.js';
import { authorizationServerMetadata, protectedResourceMetadata, serveDocument } from './metadata.js';
import { createOauthAccess, type OauthAccess } from './oauth-access.js';
import { createRateLimit, type RateLimitOptions } from './rate-limit.js';
import { resourcesOf } from './resources.js';
import { createCodes } from './token/codes.js';
import { createGrants, type Grants } from './token/grants.js';
import { revokeHandler } from './token/revoke.js';
import { tokenHandler } from './token/token.js';

/** What the rest of the product needs of it: to check access tokens, and to end grants. */
export interface Oauth {
  grants: Grants;
  access: OauthAccess;
}

export function createOauth({ mongo: { collections }, auth, log }: AuthDeps): Oauth {
  const grants = createGrants({ collections, box: auth.box, log });
  return { grants, access: createOauthAccess({ auth, grants }) };
}

export interface OauthDeps extends AuthDeps, Pick<AuthorizeDeps, 'governance'> {
  config: Pick<Config, 'allowPrivateTargets'>;
  http: HttpClient;
  oauth: Oauth;
}

export interface OauthOptions {
  /** The public address, which is the issuer; known only when the port is bound. */
  baseUrl(): string;
  limits?: Partial<Record<RateLimitOptions['what'], { max: number; windowSeconds: number }>>;
}

const defaultLimits = {
  registrations: { max: 60, windowSeconds: 600 },
  // Only failures count: a good client is never held up by others that share its address.
  'failed token requests': { max: 60, windowSeconds: 60 },
  'client documents': { max: 60, windowSeconds: 600 },
} as const;

/** The authorization server, at the specification's paths: to be mounted before anything that parses bodies. */
export function createOauthRouter(deps: OauthDeps, { baseUrl, limits = {} }: OauthOptions): Router {
  const { collections } = deps.mongo;
  const limit = (what: RateLimitOptions['what']) => createRateLimit(collections, { what, ...defaultLimits[what], ...limits[what] });
  const clients = createClients(collections);
  const codes = createCodes(collections);
  const { grants, access } = deps.oauth;
  const allowLoopbackHttp = deps.config.allowPrivateTargets;
  const findClient = createFindClient({ clients, http: deps.http, fetches: limit('client documents'), baseUrl, allowLoopbackHttp });
  const tokenDeps = { ...deps, clients, codes, grants, baseUrl };
  const authorizeDeps = { ...deps, clients, codes, findClient, browsers: createBrowserSessions(deps.auth.box, { cookie: 'svc_oauth', sameSite: 'lax', baseUrl }), baseUrl };

  const router = Router({ strict: true, caseSensitive: true });
  mountDiscovery(router, baseUrl);
  endpoint(router, '/oauth/register', [...jsonBody('64kb'), registerHandler({ clients, registrations: limit('registrations') })]);
  endpoint(router, '/oauth/token', [...formBody('16kb'), tokenHandler(tokenDeps)]);
  endpoint(router, '/oauth/revoke', [...formBody('16kb'), revokeHandler(tokenDeps, access)]);
  router.get('/oauth/authorize', showAuthorization(authorizeDeps));
  router.post('/oauth/authorize', ...formBody('64kb'), answerAuthorization(authorizeDeps));
  router.all('/oauth/authorize', onlyMethods('GET, POST'));
  router.use('/oauth/authorize', pageErrors);
  router.use(['/oauth/register', '/oauth/token', '/oauth/revoke'], jsonErrors(limit('failed token requests')));
  return router;
}

function mountDiscovery(router: Router, baseUrl: () => string): void {
  const serve = (path: string, document: () => object) => {
    router.all(path, openCors('GET'));
    router.get(path, serveDocument(document));
    router.all(path, onlyMethods('GET'));
  };
  serve('/.well-known/oauth-authorization-server', () => authorizationServerMetadata(baseUrl()));
  for (const path of resourcesOf('')) {
    serve(`/.well-known/oauth-protected-resource${path}`, () => protectedResourceMetadata(baseUrl(), baseUrl() + path));
  }
}

function endpoint(router: Router, path: string, handlers: RequestHandler[]): void {
  router.all(path, openCors('POST'));
  router.post(path, ...handlers);
  router.all(path, onlyMethods('POST'));
}
