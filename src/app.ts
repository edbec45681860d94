import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { createCallbacks } from './callbacks/create-callbacks.js';
import { createConsole } from './console/create-console.js';
import type { Deps } from './deps.js';
import { AppError } from './errors.js';
import type { Logger } from './log.js';
import { createGateway } from './gateway/create-gateway.js';
import { createMcp } from './gateway/mcp/create-mcp.js';
import { mountTools } from './gateway/rest.js';
import { gatewaySurface, requireCredential } from './gateway/surface.js';
import { toolRoutes } from './gateway/tool-routes.js';
import { createRouteCaller } from './http/call-route.js';
import { errorHandler } from './http/errors.js';
import { mountRoutes, type SurfaceRules } from './http/mount.js';
import { openApiDocument } from './http/openapi/document.js';
import type { RouteGroup } from './http/openapi/errors.js';
import { traced } from './http/trace.js';
import { measured } from './observability/measured.js';
import { apiReference } from './operation/api-reference.js';
import { healthRoutes, type Condition } from './operation/health.js';
import { metricsRoute } from './operation/metrics.js';
import { createOauthRouter } from './oauth/create-oauth.js';
import { platformPorts } from './platform/ports.js';
import { platformApiKeyRoutes } from './platform/resources/api-key.js';
import { platformRoutes } from './platform/routes.js';
import { platformSurface } from './platform/surface.js';

export interface AppOptions {
  /** The public address; known only when the port is bound. */
  baseUrl(): string;
  condition(): Condition;
  version: string;
  /** Where callbacks are forwarded to; known only when the downstream port is bound. */
  downstreamUrl?(): string;
}

/** Mounts the surfaces that this process serves, then one error handler; no environment, no I/O. */
export function createApp(deps: Deps, options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('trust proxy', deps.config.trustProxy);
  app.use(traced(deps.tracing));
  app.use(measured(deps.metrics));
  app.use(requestLog(deps.log));
  const operation = [...healthRoutes(deps, options.condition), metricsRoute(deps.metrics)];
  const groups: RouteGroup[] = [{ security: 'none', routes: operation }];
  // Before anything that reads bodies: signatures are over the bytes as received.
  if (deps.config.surfaces.includes('callbacks')) {
    const callbacks = createCallbacks(deps, options.downstreamUrl ?? (() => downstreamOf(deps)));
    groups.push({ security: 'none', routes: callbacks.routes });
    app.use(callbacks.receive);
  }
  app.use(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } }, strictTransportSecurity: false }));

  mountRoutes(app, operation, publicSurface(deps));
  if (deps.config.surfaces.includes('gateway')) {
    app.use(createOauthRouter(deps, { baseUrl: options.baseUrl }));
    const gateway = createGateway(deps, platformPorts(deps), options.baseUrl);
    const rules = gatewaySurface(deps, options.baseUrl);
    groups.push({ security: 'bearer', routes: [...toolRoutes(gateway.tools), ...gateway.routes] });
    mountTools(app, gateway.tools, gateway.pipeline, requireCredential(options.baseUrl));
    mountRoutes(app, gateway.routes, rules);
    app.use(createMcp(gateway, deps, { baseUrl: options.baseUrl, version: options.version }).router);
  }
  if (deps.config.surfaces.includes('platform')) {
    const routes = platformRoutes(deps, options.baseUrl);
    groups.push({ security: 'apiKey', routes });
    mountRoutes(app, routes, platformSurface(deps));
    const byUser = platformApiKeyRoutes(deps);
    groups.push({ security: 'bearer', routes: byUser });
    mountRoutes(app, byUser, gatewaySurface(deps, options.baseUrl));
  }
  if (deps.config.surfaces.includes('gateway') && deps.config.surfaces.includes('platform')) {
    const api = createRouteCaller(groups.flatMap(({ routes }) => routes));
    app.use('/console', createConsole(deps, { ports: { api, executions: platformPorts(deps).executions }, baseUrl: options.baseUrl }));
  }
  apiReference(app, () => openApiDocument(groups, { baseUrl: options.baseUrl(), version: options.version }));

  app.use(() => {
    throw new AppError('not_found', 'no such path');
  });
  app.use(errorHandler);
  return app;
}

function downstreamOf({ config }: Deps): string {
  return config.callbacks.downstreamUrl ?? `http://127.0.0.1:${config.downstreamPort}`;
}

function requestLog(logger: Logger) {
  return pinoHttp({
    logger,
    genReqId: requestId,
    autoLogging: { ignore: (req: IncomingMessage) => req.url === '/healthz' },
    serializers: { req: loggedRequest, res: ({ statusCode }: { statusCode: number }) => ({ statusCode }) },
  });
}

/** What a line says of a request: no header, so that none with a secret can be forgotten. */
function loggedRequest({ id, method, url, remoteAddress }: { id: string; method: string; url: string; remoteAddress?: string }) {
  return { id, method, url: loggedUrl(url), remoteAddress };
}

/** Without the query, and without the pin that a notify path carries: neither belongs into a log. */
export function loggedUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/(\/notify\/[^/]+\/).+$/, '$1[pin]');
}

/** A caller's request id is kept when it is harmless, so that it can be followed through its logs and ours. */
function requestId(req: IncomingMessage, res: ServerResponse): string {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
  res.setHeader('X-Request-Id', id);
  return id;
}

function publicSurface({ config, idempotency }: Deps): SurfaceRules {
  return {
    authenticate: () => Promise.reject(new AppError('invalid_token', 'this surface takes no credential')),
    checkScope: () => undefined,
    idempotency,
    verifyResponses: config.environment === 'test',
  };
}
