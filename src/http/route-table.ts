import { Router, type RequestHandler } from 'express';
import { onlyMethods } from './method-not-allowed.js';

export interface Mounted {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI syntax. Each segment is a literal or a parameter. */
  path: string;
  handlers: readonly RequestHandler[];
}

export interface RouteTable extends RequestHandler {
  /** The routes that the table serves. */
  routes: readonly Mounted[];
}

interface Template {
  path: string;
  /** The literal segments with their positions. */
  literals: (readonly [at: number, text: string])[];
}

/**
 * Serves routes in order, and responds with 405 and `Allow` to other methods of their paths (RFC 9110, 15.5.6). An
 * Express router compares a request with the pattern of every route, and an error with all later patterns. This table
 * passes the request to a router that contains only the routes with the same literal segments, usually one.
 */
export function routeTable(routes: readonly Mounted[]): RouteTable {
  const templates = new Map<number, Template[]>();
  for (const path of new Set(routes.map((route) => route.path))) {
    const segments = segmentsOf(path);
    const literals = [...segments.entries()].filter(([, text]) => !text.includes('{'));
    templates.set(segments.length, [...(templates.get(segments.length) ?? []), { path, literals }]);
  }
  const routers = new Map<string, Router>();
  const serve: RequestHandler = (req, res, next) => {
    const segments = segmentsOf(req.path);
    const candidates = templates.get(segments.length) ?? [];
    const paths = candidates
      .filter(({ literals }) => literals.every(([at, text]) => segments[at] === text))
      .map(({ path }) => path);
    if (paths.length === 0) return next();
    const key = paths.join(' ');
    let router = routers.get(key);
    if (!router) routers.set(key, (router = routerOf(routes.filter(({ path }) => paths.includes(path)))));
    router(req, res, next);
  };
  return Object.assign(serve, { routes });
}

/** Splits a path. Like Express, ignores case and a trailing slash. */
function segmentsOf(path: string): string[] {
  return path
    .toLowerCase()
    .slice(1, path.endsWith('/') ? -1 : undefined)
    .split('/');
}

function routerOf(routes: readonly Mounted[]): Router {
  const router = Router();
  for (const { method, path, handlers } of routes) router[method](expressPath(path), ...handlers);
  for (const path of new Set(routes.map((route) => route.path))) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
    router.all(expressPath(path), onlyMethods(allowed.join(', ')));
  }
  return router;
}

function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
