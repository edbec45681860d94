import type { Request, RequestHandler, Response } from 'express';
import type { Metrics } from './metrics.js';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts and times every request when its response ends. A stream counts when it closes. */
export function measured(metrics: Metrics): RequestHandler {
  return (req, res, next) => {
    const began = performance.now();
    res.once('close', () => {
      const method = methods.has(req.method) ? req.method : 'other';
      metrics.request(
        { method, route: routeOf(req, res), status: res.headersSent ? String(res.statusCode) : 'aborted' },
        (performance.now() - began) / 1000,
      );
    });
    next();
  };
}

/** Returns the path template of the matched route in OpenAPI syntax. Ids must not become labels or span names. */
export function routeOf(req: Request, res: Response): string {
  const { route } = req as { route?: { path?: unknown } };
  const [path] = [res.locals.route ?? route?.path].flat() as unknown[];
  return typeof path === 'string' ? path.replace(/:(\w+)/g, '{$1}') : 'unmatched';
}
