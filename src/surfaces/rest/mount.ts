import type { Request, RequestHandler, Response, Router } from 'express';
import { z } from 'zod';
import { validate, unknownFields } from '../../base/validation.js';
import { passesAdminOnly, permits, type Permission, type Principal } from '../../auth/principal.js';
import { newId } from '../../base/ids.js';
import type { Deps } from '../../domain/deps.js';
import { isGoverned, operationCall, subjectIdOf, type Route } from './define-route.js';
import type { OwnCodes } from './error-answers.js';
import { performOperation, type Outcome } from './perform-operation.js';
import { undecided } from '../../governance/operations/call-context.js';
import type { Answer } from '../../governance/idempotency.js';
import { requirePermission } from '../../auth/require-grant.js';
import { jsonBody } from '../../http/json-body.js';
import { traceIn } from '../../http/trace.js';
import { routeTable } from '../../http/route-table.js';
import { AppError } from '../../base/errors.js';

export const resumeTokenHeader = 'X-Resume-Token';
export const lifecycleHeader = 'X-Lifecycle-Id';
const uploadCannotWait =
  'the policies ask for an approval, and an upload cannot be held: its content is known only once it is received';

export interface SurfaceRules {
  deps: Deps;
  /** The public address of this deployment. */
  baseUrl(): string;
  authenticate(req: Request): Promise<Principal>;
  /** Counts the request. @throws AppError `too_many_requests` */
  limit?(principal: Principal): Promise<void>;
  /** The codes of the surface that differ from those of the gateway. */
  ownCodes?: OwnCodes;
  /** Refuses a request that names a project other than its credential's, or two different projects. */
  checkScope(route: Route, principal: Principal, req: Request): void;
  /** Query parameters that a route of the surface accepts in addition to its own. */
  queryNames?(route: Route): readonly string[];
}

/** Mounts routes in order, then answers 405 with `Allow` to other methods. */
export function mountRoutes(router: Router, routes: readonly Route[], rules: SurfaceRules): void {
  const parseBody = jsonBody('1mb');
  const mounted = routes.map((route) => ({
    method: route.method,
    path: route.path,
    handlers: [admit(route, rules), ...(route.multipart ? [] : parseBody), serve(route, rules)],
  }));
  router.use(routeTable(mounted));
}

/** Authenticates the caller and checks the permission before the body is read. */
function admit(route: Route, rules: SurfaceRules): RequestHandler {
  return async (req, res, next) => {
    res.locals.ownCodes = rules.ownCodes;
    if (route.permission !== 'public') {
      const principal = await rules.authenticate(req);
      await rules.limit?.(principal);
      requireRoute(route, principal);
      res.locals.principal = principal;
    }
    next();
  };
}

/** What every call of the route needs. What depends on the input is checked by the operation. */
export function permissionOfRoute({ permission, right }: Route): Permission | undefined {
  return permission === 'public' ? undefined : { grant: permission, right };
}

/** @throws AppError `scope_denied` */
function requireRoute(route: Route, principal: Principal): void {
  const permission = permissionOfRoute(route);
  if (permission) requirePermission(principal, permission);
}

/** Whether the caller may call the route with some input. */
export function mayCall(route: Route, principal: Principal): boolean {
  const permission = permissionOfRoute(route);
  const isAllowed = !permission || permits(principal, permission);
  return isAllowed && passesAdminOnly(principal, route);
}

function serve(route: Route, rules: SurfaceRules): RequestHandler {
  const { deps, baseUrl } = rules;
  const refuseUnknownQuery = createQueryCheck(route, rules.queryNames?.(route) ?? []);
  return async (req, res) => {
    const principal = res.locals.principal as Principal | undefined;
    if (principal) rules.checkScope(route, principal, req);
    refuseUnknownQuery(req.query);
    const input = validateRequest(route, req);
    const recheck = async () => requireRoute(route, await rules.authenticate(req));
    const call = async (recordId: string): Promise<Answer> => {
      const idempotencyKey = req.get('idempotency-key');
      const ctx = { principal, recordId, baseUrl: baseUrl(), idempotencyKey, ...undecided, recheck, req, res };
      const whole = { ...input, ctx, deps };
      if (!isGoverned(route) || !principal) return { value: await route.handler(whole) };
      const outcome = await performOperation({
        operation: route.operation,
        call: operationCall(route.method, whole),
        subjectId: subjectIdOf(route, input.params),
        channel: 'rest',
        traceId: traceIn(res).traceId,
        resumeToken: req.get(resumeTokenHeader),
        ...(route.multipart && { cannotWait: uploadCannotWait }),
        run: (repeatable) => route.handler({ ...whole, ctx: { ...ctx, ...repeatable } }),
      });
      return answerOf(res, outcome);
    };
    // A handler that streams the body answers a repeated key itself, once it has read the body.
    const key = route.idempotent && !route.multipart ? req.get('idempotency-key') : undefined;
    const {
      value: performed,
      lifecycleId,
      held = false,
    } = key === undefined || !principal
      ? await call(newId())
      : await deps.idempotency.once(
          { key, route: `${route.method} ${req.path}`, principal, body: req.body as unknown },
          call,
        );
    if (res.headersSent) return;
    const finish = held || !principal ? undefined : route.finish;
    const value = finish && principal ? await finish(deps, { principal, req, res }, performed as never) : performed;
    if (lifecycleId !== undefined) res.set(lifecycleHeader, lifecycleId);
    if (deps.config.verifyResponses && !held) route.response.schema.parse(value);
    const { status = 200, headers } = route.response;
    if (!held) res.set(typeof headers === 'function' ? headers(value as never) : { ...headers });
    res.status(held ? 202 : status).json(value);
  };
}

/** @throws AppError `not_found` for invalid parameters of the path, otherwise `invalid_request` */
function validateRequest(route: Route, { params, query, body }: Record<'params' | 'query' | 'body', unknown>) {
  return {
    params: validate(route.params, params, 'not_found'),
    query: validate(route.query, query, 'invalid_request'),
    body: validate(route.multipart ? undefined : route.body, body, 'invalid_request'),
  };
}

/** @throws the refusal of the operation or of an earlier stage; the header names the record even then */
function answerOf(res: Response, outcome: Outcome): Answer {
  const { lifecycleId } = outcome;
  if ('error' in outcome) {
    if (lifecycleId !== undefined && !res.headersSent) res.set(lifecycleHeader, lifecycleId);
    throw outcome.error;
  }
  return {
    value: outcome.value,
    ...(lifecycleId !== undefined && { lifecycleId }),
    ...(outcome.held && { held: true }),
  };
}

/**
 * Creates a check that refuses unknown query parameters, because a misspelled filter would silently return everything
 * (contract, Conventions).
 * @returns a check that throws AppError `invalid_request` with the unknown and the known names
 */
function createQueryCheck({ query }: Pick<Route, 'query'>, allowed: readonly string[]): (parameters: object) => void {
  const routeNames = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const known = new Set([...routeNames, ...allowed]);
  return (parameters) => {
    const unknown = Object.keys(parameters).filter((name) => !known.has(name));
    if (unknown.length > 0)
      throw new AppError('invalid_request', unknownFields('query parameter', unknown, [...known]));
  };
}
