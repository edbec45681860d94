import { Router, type RequestHandler } from 'express';
import { createDeviceRequests } from '../../auth/oauth/device-requests.js';
import type { Deps } from '../../domain/deps.js';
import { clientDocument, clientDocumentPath } from '../../domain/mcp-servers/rules/client-document.js';
import { cors } from '../../http/cors.js';
import { jsonBody } from '../../http/json-body.js';
import { onlyMethods } from '../../http/method-not-allowed.js';
import { answerAuthorization, showAuthorization } from './authorize/authorize.js';
import { deviceAuthorizationHandler, devicePath } from './device/device-authorization.js';
import { answerDevice, showDevice } from './device/device.js';
import { createBrowserSessions } from '../browser/browser-session.js';
import { createVerifyAssertion } from './clients/client-assertion.js';
import { createAuthenticateClient } from './clients/client-authentication.js';
import { createFindClient } from './clients/client-document.js';
import { createClients, type UnusedLimits } from '../../auth/oauth/clients.js';
import { registerHandler } from './clients/register.js';
import { jsonErrors, pageErrors } from './error-handlers.js';
import { formBody } from './form-body.js';
import { authorizationServerMetadata, protectedResourceMetadata, serveDocument } from './metadata.js';
import { deviceErrorPage } from './pages/device-pages.js';
import { errorPage } from './pages/error-page.js';
import { createRateLimit, type RateLimitOptions } from './rate-limit.js';
import { appSchemesWith } from '../../auth/oauth/redirect-uri.js';
import { resourcesOf } from '../../auth/oauth/resources.js';
import { createCodes } from '../../auth/oauth/codes.js';
import { revokeHandler } from './token/revoke.js';
import { tokenHandler } from './token/token.js';

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
  'device requests': { max: 60, windowSeconds: 600 },
  // A person needs about four: the code is read again by each page and form.
  'entered codes': { max: 100, windowSeconds: 600 },
} as const;

/** Creates the authorization server at the paths of the specification. Mount it before any body parser. */
export function createOauthRouter(deps: Deps, { baseUrl, limits = {}, unusedLimits }: OauthOptions): Router {
  const { collections } = deps.mongo;
  const limit = (what: RateLimitOptions['what']) =>
    createRateLimit(collections, { what, ...defaultLimits[what], ...limits[what] });
  const clients = createClients(collections, unusedLimits);
  const codes = createCodes(collections);
  const devices = createDeviceRequests(collections);
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
  const tokenDeps = { ...deps, authenticateClient, clients, codes, devices, grants, baseUrl };
  const browsers = createBrowserSessions(deps.auth.box, { cookie: 'svc_oauth', sameSite: 'lax', baseUrl });
  const authorizeDeps = { ...deps, clients, codes, findClient, browsers, baseUrl };

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
  router.use('/oauth/authorize', pageErrors(errorPage));
  endpoint('/oauth/device_authorization', [
    ...formBody('16kb'),
    deviceAuthorizationHandler({ authenticateClient, devices, requests: limit('device requests'), baseUrl }),
  ]);
  const devicePage = { deps, devices, enteredCodes: limit('entered codes'), browsers, baseUrl };
  router.get(devicePath, showDevice(devicePage));
  router.post(devicePath, ...formBody('16kb'), answerDevice(devicePage));
  router.all(devicePath, onlyMethods('GET, POST'));
  router.use(devicePath, pageErrors(deviceErrorPage));
  const endpoints = ['/oauth/register', '/oauth/token', '/oauth/revoke', '/oauth/device_authorization'];
  router.use(endpoints, jsonErrors(limit('failed token requests')));
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
