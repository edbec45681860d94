import type { Request, RequestHandler, Response, Router } from 'express';
import { z } from 'zod';
import { passesAdminOnly, permits, type Permission, type Principal } from '../../auth/principal.js';
import { requirePermission } from '../../auth/require-grant.js';
import { AppError } from '../../base/errors.js';
import { unknownFields, validate } from '../../base/validation.js';
import type { Deps } from '../../domain/deps.js';
import type { Entrance } from '../../governance/kernel/entrances.js';
import { performOperation, type Outcome, type Refusal } from '../../governance/kernel/perform-operation.js';
import { performTool } from '../../governance/kernel/perform-tool.js';
import { checkIdempotencyKey } from '../../governance/idempotency.js';
import { readData } from '../../http/data-body.js';
import { readJson } from '../../http/json-body.js';
import { routeTable } from '../../http/route-table.js';
import { traceIn } from '../../http/trace.js';
import { defineOperation, type DomainOperation } from '../../domain/operation.js';
import { namesProject } from '../../governance/tools/project-fields.js';
import { isGoverned, keyOf, type Route, type RouteInput } from './define-route.js';
import type { OwnCodes } from './error-answers.js';

export const resumeTokenHeader = 'X-Resume-Token';
export const lifecycleHeader = 'X-Lifecycle-Id';

export interface SurfaceRules {
  deps: Deps;
  /** The public address of this deployment. */
  baseUrl(): string;
  /** Reads and verifies the credential. @throws AppError `invalid_token` */
  authenticate(req: Request): Promise<Principal>;
  /** The caller in the project that the request names. @throws AppError `scope_denied` */
  resolveScope(principal: Principal, req: Request): Promise<Principal>;
  /** The codes of the surface that differ from those of the gateway. */
  ownCodes?: OwnCodes;
  /** Refuses a request that names a project other than its credential's, or two different projects. */
  checkScope(route: Route, principal: Principal, req: Request): void;
  /** Query parameters that a route of the surface accepts in addition to its own. */
  queryNames?(route: Route): readonly string[];
}

/** Mounts routes in order, then answers 405 with `Allow` to other methods. */
export function mountRoutes(router: Router, routes: readonly Route[], rules: SurfaceRules): void {
  const mounted = routes.map((route) => ({ method: route.method, path: route.path, handlers: [serve(route, rules)] }));
  router.use(routeTable(mounted));
}

/** What every call of the route needs. What depends on the arguments of a tool is checked by the kernel. */
export function permissionOfRoute({ permission, right }: Route): Permission | undefined {
  return permission === 'public' ? undefined : { grant: permission, right };
}

/** Whether the caller may call the route with some input. */
export function mayCall(route: Route, principal: Principal): boolean {
  const permission = permissionOfRoute(route);
  const isAllowed = !permission || permits(principal, permission);
  return isAllowed && passesAdminOnly(principal, route);
}

/** The kernel checks the call; the surface reads the request for it and writes its answer. */
function serve(route: Route, rules: SurfaceRules): RequestHandler {
  const read = createReader(route, rules);
  const perform = performerOf(route, rules, read);
  return async (req, res) => {
    res.locals.ownCodes = rules.ownCodes;
    const outcome = await perform(req, res);
    const { lifecycleId } = outcome;
    if (lifecycleId !== undefined && !res.headersSent) res.set(lifecycleHeader, lifecycleId);
    if ('error' in outcome) throw outcome.error;
    if (!res.headersSent) await answer(route, rules, outcome, res);
  };
}

type Perform = (req: Request, res: Response) => Promise<Outcome | Refusal>;
type Read = (req: Request, res: Response, principal?: Principal) => Promise<RouteInput>;

/** Reads and validates a request. The body is read only for a caller who may call the route. */
function createReader(route: Route, rules: SurfaceRules): Read {
  const refuseUnknownQuery = createQueryCheck(route, rules.queryNames?.(route) ?? []);
  return async (req, res, principal) => {
    if (!route.multipart) await (route.takesAnyData ? readData : readJson)(req, res);
    if (principal) rules.checkScope(route, principal, req);
    refuseUnknownQuery(req.query);
    return validateRequest(route, req);
  };
}

function performerOf(route: Route, rules: SurfaceRules, read: Read): Perform {
  const { deps, baseUrl } = rules;
  const { tool } = route;
  const receivedIn = (req: Request, res: Response) => ({
    deps,
    baseUrl: baseUrl(),
    authenticate: () => rules.authenticate(req),
    resolveScope: (principal: Principal) => rules.resolveScope(principal, req),
    traceId: traceIn(res).traceId,
    resumeToken: req.get(resumeTokenHeader),
    signal: deps.stopping.signal,
  });
  if (route.permission === 'public')
    return async (req, res) => ({
      held: false,
      value: await handled(route, await read(req, res), { deps, ctx: { req, res } }),
    });
  if (tool)
    return async (req, res) => {
      const idempotencyKey = route.idempotent ? req.get('idempotency-key') : undefined;
      if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
      return performTool({
        ...receivedIn(req, res),
        ...{ tool, entrance: 'tool', idempotencyKey, params: req.params, signal: signalOf(res) },
        read: () => argumentsIn(req, res),
      });
    };
  const operation = route.operation ?? operationOfCaller(route);
  return async (req, res) => {
    const idempotencyKey = req.get('idempotency-key');
    const recheck = async () =>
      requirePermission(await rules.resolveScope(await rules.authenticate(req), req), operation);
    // A handler that receives a stream answers a repeated key itself, once it has read the body.
    const isRepeatable = idempotencyKey !== undefined && route.idempotent === true && !route.multipart;
    return performOperation({
      ...receivedIn(req, res),
      ...{ operation, entrance: entranceOf(route), idempotencyKey },
      key: () => keyOf(route.method, validateKey(route, req)),
      async read(principal) {
        const request = await read(req, res, principal);
        if (!route.operation) return request;
        return route.method === 'get' ? request.query : request.body;
      },
      ...(isRepeatable && {
        repeatable: { key: idempotencyKey, route: `${route.method} ${req.path}`, body: () => req.body as unknown },
      }),
      run(call) {
        const ctx = { ...call.ctx, recheck, req, res };
        if (!route.operation) return handled(route, call.input, { deps, ctx });
        const perform = route.run ?? operation.run;
        if (!perform) throw new Error(`${operation.name} has no handler in ${route.path}`);
        return perform({ ...call, ctx });
      },
    });
  };
}

type HandlerInput = Parameters<NonNullable<Route['handler']>>[0];

async function handled(route: Route, request: RouteInput, rest: Pick<HandlerInput, 'deps' | 'ctx'>): Promise<unknown> {
  if (!route.handler) throw new Error(`${route.method} ${route.path} has neither operation nor handler`);
  return route.handler({ ...(request as HandlerInput), ...rest });
}

/** A route without operation that needs a credential reads or changes only what belongs to the credential. */
function operationOfCaller(route: Route): DomainOperation {
  const { permission, right, adminOnly, method, path } = route;
  if (permission === 'public') throw new Error(`${path} needs no credential`);
  return defineOperation({
    name: `${method} ${path}`,
    effect: 'read',
    grant: permission,
    ...(right && { right }),
    ...(adminOnly && { adminOnly }),
    output: z.unknown(),
  });
}

function entranceOf(route: Route): Entrance {
  if (!isGoverned(route)) return 'read';
  return route.multipart ? 'upload' : 'route';
}

async function answer(
  route: Route,
  { deps }: SurfaceRules,
  { held, value: result, principal }: Outcome,
  res: Response,
): Promise<void> {
  const { status = 200, headers, schema } = route.response;
  if (held) return void res.status(202).json(result);
  const finish = principal && route.finish?.(deps, { principal, req: res.req, res }, result as never);
  const value = finish ? await finish : result;
  if (deps.config.verifyResponses) schema.parse(value);
  res.set(typeof headers === 'function' ? headers(value as never) : { ...headers });
  const isDryRun = route.tool !== undefined && (value as { dry_run?: unknown }).dry_run === true;
  res.status(isDryRun ? 200 : status).json(value);
}

/** Adds a project in the query string to the arguments, so that S4 refuses it like a project in the body. */
async function argumentsIn(req: Request, res: Response): Promise<unknown> {
  if (req.method !== 'GET') await readJson(req, res);
  const body: unknown = req.body ?? {};
  const named = Object.entries(req.query).filter(([name]) => namesProject(name));
  return named.length > 0 && typeof body === 'object' ? { ...body, ...Object.fromEntries(named) } : body;
}

/** Returns a signal that aborts when the caller disconnects before the whole response is sent. */
function signalOf(res: Response): AbortSignal {
  const disconnected = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) disconnected.abort();
  });
  return disconnected.signal;
}

/** @throws AppError `not_found` for invalid parameters of the path, otherwise `invalid_request` */
function validateRequest(route: Route, request: Record<'params' | 'query' | 'body', unknown>): RouteInput {
  const body = route.multipart ? undefined : route.body;
  return { ...validateKey(route, request), body: validate(body, request.body, 'invalid_request') };
}

function validateKey(route: Route, { params, query }: Record<'params' | 'query', unknown>): Omit<RouteInput, 'body'> {
  return {
    params: validate(route.params, params, 'not_found'),
    query: validate(route.query, query, 'invalid_request'),
  };
}

/**
 * Creates a check that refuses unknown query parameters, because a misspelled filter would silently return everything
 * (docs/specification.md, "Conventions").
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
