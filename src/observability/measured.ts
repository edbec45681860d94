import type { Request, RequestHandler, Response } from 'express';
import type { Metrics } from './metrics.js';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts and times every request when its answer is over; a stream counts when it ends. */
export function measured(metrics: Metrics): RequestHandler {
  return (req, res, next) => {
    const began = performance.now();
    res.once('close', () => {
      const method = methods.has(req.method) ? req.method : 'other';
      metrics.request({ method, route: routeOf(req, res), status: res.headersSent ? String(res.statusCode) : 'aborted' }, (performance.now() - began) / 1000);
    });
    next();
  };
}

/** The template of the route that answered, in OpenAPI's form, so that no id becomes a label or the name of a span. */
export function routeOf(req: Request, res: Response): string {
  const { route } = req as { route?: { path?: unknown } };
  const [path] = [res.locals.route ?? route?.path].flat() as unknown[];
  return typeof path === 'string' ? path.replace(/:(\w+)/g, '{$1}') : 'unmatched';
}
