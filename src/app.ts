import express, { type Express } from 'express';
import helmet from 'helmet';
import { createCallbacks } from './surfaces/callbacks/create-callbacks.js';
import { createConsole } from './surfaces/console/create-console.js';
import type { Deps } from './domain/deps.js';
import { AppError } from './base/errors.js';
import { gatewayRoutes } from './surfaces/gateway/gateway-routes.js';
import { createMcp } from './surfaces/mcp/create-mcp.js';
import { gatewaySurface } from './surfaces/gateway/surface.js';
import { compressed } from './http/compressed.js';
import { limitQuery } from './http/limit-query.js';
import { errorHandler } from './surfaces/rest/error-answers.js';
import { mountRoutes, type SurfaceRules } from './surfaces/rest/mount.js';
import { openApiDocument } from './surfaces/rest/openapi/document.js';
import type { RouteGroup } from './surfaces/rest/openapi/errors.js';
import { requestLog } from './http/request-log.js';
import { traced } from './http/trace.js';
import { measured } from './observability/measured.js';
import { createConsoleSessions } from './surfaces/browser/browser-session.js';
import { createCodecEndpoint } from './surfaces/operation/codec-endpoint.js';
import { apiReference } from './surfaces/operation/api-reference.js';
import { healthRoutes, type Condition, type Indexes } from './surfaces/operation/health.js';
import { metricsRoute } from './surfaces/operation/metrics.js';
import { createOauthRouter } from './surfaces/oauth/create-oauth.js';
import { platformApiKeyRoutes } from './surfaces/gateway/routes/api-keys.js';
import { platformRoutes, platformTags } from './surfaces/platform/resources.js';
import { platformSurface } from './surfaces/platform/surface.js';

interface AppOptions {
  /** The public address; known once the port is bound. */
  baseUrl(): string;
  condition(): Condition;
  indexes?(): Indexes;
  version: string;
  /** The address to which callbacks are forwarded; known once the downstream port is bound. */
  downstreamUrl?(): string;
}

/** Mounts the surfaces of this process and the error handler. Does not read the environment or perform I/O. */
export function createApp(deps: Deps, options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  // Hashes every answer. Answers that clients may compare set their own.
  app.set('etag', false);
  app.set('trust proxy', deps.config.trustProxy);
  app.use(traced(deps.tracing));
  app.use(measured(deps.metrics));
  app.use(requestLog(deps.log, ({ url }) => url !== '/healthz'));
  app.use(limitQuery);
  app.use(compressed);
  const operation = [...healthRoutes(deps, options), metricsRoute(deps.metrics)];
  const groups: RouteGroup[] = [{ security: 'none', routes: operation }];
  // Before any body parser, because signatures cover the raw bytes.
  if (deps.config.surfaces.includes('callbacks')) {
    const callbacks = createCallbacks(deps, options.downstreamUrl ?? (() => downstreamOf(deps)));
    groups.push({ security: 'none', routes: callbacks.routes });
    app.use(callbacks.receive);
  }
  app.use(
    helmet({
      contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
      strictTransportSecurity: deps.config.baseUrl?.startsWith('https:')
        ? { maxAge: 31_536_000, includeSubDomains: false }
        : false,
    }),
  );

  mountRoutes(app, operation, publicSurface(deps, options.baseUrl));
  if (deps.config.surfaces.includes('gateway')) {
    app.use(createOauthRouter(deps, { baseUrl: options.baseUrl }));
    const routes = gatewayRoutes(deps, options.baseUrl);
    groups.push({ security: 'bearer', routes });
    mountRoutes(app, routes, gatewaySurface(deps, options.baseUrl));
    app.use(createMcp(deps, { baseUrl: options.baseUrl, version: options.version }).router);
  }
  if (deps.config.surfaces.includes('platform')) {
    groups.push({ security: 'apiKey', routes: platformRoutes, tags: platformTags });
    mountRoutes(app, platformRoutes, platformSurface(deps, options.baseUrl));
    groups.push({ security: 'bearer', routes: platformApiKeyRoutes });
    mountRoutes(app, platformApiKeyRoutes, gatewaySurface(deps, options.baseUrl));
  }
  if (deps.config.surfaces.includes('gateway') && deps.config.surfaces.includes('platform')) {
    const routes = groups.flatMap((group) => group.routes);
    app.use('/console', createConsole({ deps, routes, baseUrl: options.baseUrl }));
  }
  if (deps.config.surfaces.includes('platform')) {
    app.use(
      '/temporal/codec',
      createCodecEndpoint({
        ...deps,
        baseUrl: options.baseUrl,
        browsers: createConsoleSessions(deps.auth.box, options.baseUrl),
      }),
    );
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

function publicSurface(deps: Deps, baseUrl: () => string): SurfaceRules {
  return {
    deps,
    baseUrl,
    authenticate: () => Promise.reject(new AppError('invalid_token', 'this surface accepts no credential')),
    resolveScope: async (principal) => principal,
    checkScope: () => undefined,
  };
}
