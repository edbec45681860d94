import type { Request, RequestHandler, Response, Router } from 'express';
import type { z } from 'zod';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import type { RequestContext } from './context.js';
import type { Route } from './define-route.js';
import type { Idempotency } from './idempotency.js';
import { jsonBody } from './json-body.js';
import { onlyMethods } from './method-not-allowed.js';

export interface SurfaceRules {
  authenticate(req: Request): Promise<Principal>;
  /** Refuses a request that names another project than its credential's, or two different ones. */
  checkScope(route: Route, principal: Principal, req: Request): void;
  idempotency: Idempotency;
  /** Tests check each answer against its own schema, so that the OpenAPI document stays true. */
  verifyResponses: boolean;
}

/** Mounts routes in order; then answers 405 with `Allow` where only the method is wrong. */
export function mountRoutes(router: Router, routes: readonly Route[], rules: SurfaceRules): void {
  const parseBody = jsonBody('1mb');
  for (const route of routes) {
    router[route.method](expressPath(route.path), admit(route, rules), ...(route.multipart ? [] : parseBody), serve(route, rules));
  }
  refuseOtherMethods(router, routes);
}

export function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Before the body is read: who calls, and may they call this route at all. */
function admit(route: Route, rules: SurfaceRules): RequestHandler {
  return async (req, res, next) => {
    if (route.permission !== 'public') {
      const principal = await rules.authenticate(req);
      requireGrant(route, principal);
      res.locals.principal = principal;
    }
    next();
  };
}

/** @throws AppError `access_denied` */
export function requireGrant(route: Pick<Route, 'permission'>, principal: Principal): void {
  if (!permits(route, principal)) throw new AppError('access_denied', `this call needs the grant ${route.permission}`);
}

/** Whether the principal holds the grant that the route asks for. */
export function permits({ permission }: Pick<Route, 'permission'>, { grants }: Principal): boolean {
  return permission === 'public' || permission === 'any' || grants.includes(permission);
}

function serve(route: Route, rules: SurfaceRules): RequestHandler {
  return async (req, res) => {
    const principal = res.locals.principal as Principal | undefined;
    if (principal) rules.checkScope(route, principal, req);
    const input = {
      params: validate(route.params, req.params, 'not_found'),
      query: validate(route.query, req.query, 'invalid_request'),
      body: validate(route.multipart ? undefined : route.body, req.body, 'invalid_request'),
    };
    const call = (recordId: string) => route.handler({ ...input, ctx: contextOf(req, res, principal, recordId) });
    // A handler of a streamed body answers a repeated key itself, when it knows what came.
    const key = route.idempotent && !route.multipart ? req.get('idempotency-key') : undefined;
    const answer =
      key === undefined || !principal
        ? await call(newId())
        : await rules.idempotency.once({ key, route: `${route.method} ${req.path}`, principal, body: req.body as unknown }, call);
    if (res.headersSent) return;
    if (rules.verifyResponses) route.response.schema.parse(answer);
    res.status(route.response.status ?? 200).json(answer);
  };
}

export function contextOf(
  req: Request,
  res: Response,
  principal: Principal | undefined,
  recordId: string,
): RequestContext<Principal | undefined> {
  return {
    principal,
    // Made as text in app.ts.
    requestId: req.id as string,
    recordId,
    idempotencyKey: req.get('idempotency-key'),
    log: req.log,
    req,
    res,
  };
}

/** Names every field that is wrong; an identifier in the path that cannot be one is simply not found. */
export function validate<S extends z.ZodType>(schema: S | undefined, value: unknown, code: 'not_found' | 'invalid_request'): z.output<S> {
  if (!schema) return undefined as z.output<S>;
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  if (code === 'not_found') throw new AppError('not_found', 'no such record');
  throw new AppError(code, parsed.error.issues.flatMap((issue) => problemsOf(issue)).slice(0, 20).join('; '));
}

/** What is wrong and where; of a union, in the alternative whose type the value has, else the types that it may have. */
function problemsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path];
  const problem = (text: string) => [`${path.join('.') || 'body'}: ${text}`];
  if (issue.code === 'invalid_key') return problem(`Invalid key: ${issue.issues.map(({ message }) => message).join(', ')}`);
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== 'Invalid input') return problem(issue.message);
  const types = issue.errors.map((issues) => issues.flatMap((each) => (each.code === 'invalid_type' && each.path.length === 0 ? [each.expected] : [])));
  const fitting = issue.errors.find((_, at) => types[at]?.length === 0);
  return fitting?.flatMap((each) => problemsOf(each, path)) ?? problem(`Invalid input: expected ${[...new Set(types.flat())].join(' or ')}`);
}

/** 405 with `Allow` on every path that was mounted, for the methods that were not. */
export function refuseOtherMethods(router: Router, operations: readonly Pick<Route, 'method' | 'path'>[]): void {
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method.toUpperCase());
    router.all(expressPath(path), onlyMethods(allowed.join(', ')));
  }
}
