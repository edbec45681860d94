import type { Request, Response } from 'express';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../errors.js';
import { newId } from '../../ids.js';
import type { Deps } from '../../domain/deps.js';
import { isGoverned, type Method, type Route } from './define-route.js';
import { contextOf, permits, requirePermission, validateRequest } from './mount.js';
import { performRoute } from './perform-routes.js';

export interface RouteRequest {
  principal: Principal;
  req: Request;
  res: Response;
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

export interface RouteCaller {
  /**
   * Calls the route with its own permission, schemas and handler, and returns its answer.
   * @throws AppError like the route
   */
  call(method: Method, path: string, request: RouteRequest): Promise<unknown>;
  /** The operations whose grant the principal holds, as `<method> <path>`. */
  permitted(principal: Principal): string[];
}

/**
 * Calls routes for a surface of this process that shows the answers to people. The project comes from the principal, so
 * no scope is checked. Idempotency keys are not supported.
 */
export function createRouteCaller(routes: readonly Route[], deps: Deps, baseUrl: () => string): RouteCaller {
  const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const find = (method: Method, path: string): Route => {
    const route = byName.get(`${method} ${path}`);
    if (!route) throw new Error(`no route ${method} ${path}`);
    return route;
  };
  return {
    async call(method, path, { principal, req, res, params, query, body }) {
      const route = find(method, path);
      requirePermission(route, principal);
      const input = validateRequest(route, { params, query, body });
      const ctx = contextOf(req, res, { principal, recordId: newId(), baseUrl: baseUrl() });
      const whole = { ...input, ctx, deps };
      if (!isGoverned(route)) return route.handler(whole);
      const outcome = await performRoute({
        route,
        principal,
        input: whole,
        channel: 'console',
        resumeToken: undefined,
      });
      if ('error' in outcome) throw outcome.error;
      if (outcome.held) throw new AppError('approval_refused', heldText(outcome.value));
      return outcome.value;
    },
    permitted: (principal) => [...byName].filter(([, route]) => permits(route, principal)).map(([name]) => name),
  };
}

function heldText(held: unknown): string {
  const { approval_id: id } = held as { approval_id: string };
  return `a policy holds this until somebody else approves it (approval ${id}): repeat it once it is approved`;
}
