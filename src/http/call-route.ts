import type { Request, Response } from 'express';
import type { Principal } from '../auth/principal.js';
import { newId } from '../ids.js';
import type { Method, Route } from './define-route.js';
import { contextOf, permits, requireGrant, validate } from './mount.js';

export interface RouteCall {
  principal: Principal;
  req: Request;
  res: Response;
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

export interface RouteCaller {
  /** What the route answers to that call: with its own permission, schemas and handler. @throws AppError as the route */
  call(method: Method, path: string, call: RouteCall): Promise<unknown>;
  /** Whether the principal holds the grant that the route asks for. */
  permits(method: Method, path: string, principal: Principal): boolean;
}

/**
 * Routes for a surface of this process that shows them to people. The identifiers of a project are the principal's, so
 * there is no scope to check; there are no idempotency keys.
 */
export function createRouteCaller(routes: readonly Route[]): RouteCaller {
  const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const find = (method: Method, path: string): Route => {
    const route = byName.get(`${method} ${path}`);
    if (!route) throw new Error(`no route ${method} ${path}`);
    return route;
  };
  return {
    async call(method, path, { principal, req, res, params, query, body }) {
      const route = find(method, path);
      requireGrant(route, principal);
      const input = {
        params: validate(route.params, params, 'not_found'),
        query: validate(route.query, query, 'invalid_request'),
        body: validate(route.body, body, 'invalid_request'),
      };
      return route.handler({ ...input, ctx: contextOf(req, res, principal, newId()) });
    },
    permits: (method, path, principal) => permits(find(method, path), principal),
  };
}
