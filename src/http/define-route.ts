import type { z } from 'zod';
import type { Grant } from '../auth/grants.js';
import type { Principal } from '../auth/principal.js';
import type { ErrorCode } from '../errors.js';
import type { RequestContext } from './context.js';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** `public` takes no credential, `any` any valid one; otherwise the grant that the credential must hold. */
export type Permission = 'public' | 'any' | Grant;

type Schema = z.ZodType;
type Output<S> = S extends Schema ? z.output<S> : undefined;

/** A code with its own status, or with another one. */
export type ErrorAnswer = ErrorCode | { code: ErrorCode; status: number };

export interface RouteResponse {
  status?: number;
  schema: Schema;
  description: string;
  /** The media type of a handler that writes the response itself; the schema then describes one message. */
  stream?: string;
  /** What else may be answered, by status; `default` for whatever another service answers. */
  others?: Readonly<Record<string, { description: string; schema?: Schema; stream?: string }>>;
}

export interface RouteInput<P, Q, B, C> {
  params: Output<P>;
  query: Output<Q>;
  body: Output<B>;
  ctx: C;
}

export interface RouteSpec<P, Q, B, Permit extends Permission> {
  method: Method;
  /** OpenAPI form: `/execute_flow/{execution_id}/pause`. */
  path: string;
  permission: Permit;
  tag: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** The body is multipart/form-data, which the handler reads as it comes; `body` only describes its fields. */
  multipart?: boolean;
  response: RouteResponse;
  /** Codes beside those that every route of its kind can answer (`openapi/errors.ts`). */
  errors?: readonly ErrorAnswer[];
  /** Takes `Idempotency-Key`: the same key and body within 24 h get the first answer (contract, Conventions). */
  idempotent?: boolean;
  /** What the credential's scope is checked against; `organization` routes look beyond one project. */
  scope?: 'project' | 'organization';
  handler(
    input: RouteInput<P, Q, B, RequestContext<Permit extends 'public' ? undefined : Principal>>,
  ): Promise<unknown>;
}

/** A route whose type parameters are closed over: what the router, OpenAPI and the route-table tests read. */
export type Route = Omit<RouteSpec<Schema | undefined, Schema | undefined, Schema | undefined, Permission>, 'handler'> & {
  handler(input: RouteInput<Schema, Schema, Schema, RequestContext<Principal | undefined>>): Promise<unknown>;
};

/**
 * Declares one route as data. The router authenticates, checks `permission`, validates with the given schemas
 * and only then calls `handler`, so the types that the handler sees are guaranteed by that order: this is the
 * one place where they are forgotten.
 */
export function defineRoute<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  const Permit extends Permission = Permission,
>(route: RouteSpec<P, Q, B, Permit>): Route {
  return route as unknown as Route;
}
