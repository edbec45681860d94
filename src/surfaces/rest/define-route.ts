import { z } from 'zod';
import type { Grant, Right } from '../../auth/grants.js';
import type { Deps } from '../../domain/deps.js';
import type { DomainOperation, DomainTool } from '../../domain/operation.js';
import type { ErrorCode } from '../../base/error-catalog.js';
import type { PreparedCall, TypedOperation } from '../../governance/operations/operation.js';
import type { RequestContext } from './context.js';
import { Id } from '../../base/ids.js';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The grant that a credential needs. `any` accepts every valid credential, and `public` requires none. */
type Permission = 'public' | 'any' | Grant;

type Schema = z.ZodType;
type Output<S> = S extends Schema ? z.output<S> : undefined;

/** The HTTP form of a result. */
export interface RouteResponse<T = unknown> {
  status?: number;
  description: string;
  /** Headers of a successful response, which may depend on the result. */
  headers?: Readonly<Record<string, string>> | ((value: T) => Readonly<Record<string, string>>);
  /** The media type, if the handler writes the response itself. The schema then describes one message. */
  stream?: string;
  /** Other responses by status. `default` means any status of another service. */
  others?: Readonly<Record<string, { description: string; schema?: Schema; stream?: string }>>;
}

/** The properties that the definition of every route has. */
interface RouteTexts {
  method: Method;
  /** The path in OpenAPI format, such as `/execute_flow/{execution_id}/pause`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** Whether the body is multipart/form-data, which the handler reads. `body` then only describes its fields. */
  multipart?: boolean;
  /** Whether the body may also be a form or a text, because other systems choose its format. */
  takesAnyData?: boolean;
  /** Error codes in addition to those of every route of its kind (`openapi/errors.ts`). */
  errors?: readonly ErrorCode[];
  /** Whether it accepts `Idempotency-Key`: the same key, body and credential get the first response for 24 h. */
  idempotent?: boolean;
  /** Whether clients may repeat a call without `Idempotency-Key`, because a repeat has no further effect. */
  repeatable?: boolean;
  /** Runs after the operation was performed and recorded, with its result, and returns the answer. */
  finish?(deps: Deps, ctx: Pick<RequestContext, 'principal' | 'req' | 'res'>, value: never): Promise<unknown>;
  /** The rights of which a person needs one. */
  right?: readonly Right[] | undefined;
  /** Whether the call needs an admin role in addition. */
  adminOnly?: boolean | undefined;
  /** The scope that the credential is checked against. `organization` routes cover more than one project. */
  scope?: 'project' | 'organization';
}

/** A validated request. */
export interface RouteInput<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  body: B;
}

interface PlainCall<P, Q, B, C> extends RouteInput<Output<P>, Output<Q>, Output<B>> {
  ctx: C;
  deps: Deps;
}

/** What the handler of a public route receives besides the request. */
export type PublicContext = Pick<RequestContext, 'req' | 'res'>;

/** A route that performs no operation. It needs no credential, or only reads what belongs to the credential. */
interface PlainRoute<P, Q, B, Permit extends Permission> extends RouteTexts {
  permission: Permit;
  params?: P;
  query?: Q;
  body?: B;
  response: RouteResponse<never> & { schema: Schema };
  handler(input: PlainCall<P, Q, B, Permit extends 'public' ? PublicContext : RequestContext>): Promise<unknown>;
}

type HandledCall = PreparedCall<Deps, never, never, never> & { ctx: RequestContext };

/** A route in the form that the router, OpenAPI and the route-table tests use. It has one of the last three fields. */
export type Route = Omit<
  PlainRoute<Schema | undefined, Schema | undefined, Schema | undefined, Permission>,
  'handler'
> & {
  /** What a call performs. `run` replaces its own. */
  operation?: DomainOperation;
  run?: ((call: HandledCall) => Promise<unknown>) | undefined;
  /** What answers a call of a route without operation. */
  handler?(input: PlainCall<Schema, Schema, Schema, RequestContext | PublicContext>): Promise<unknown>;
  /** The tool that the arguments call. */
  tool?: DomainTool;
};

/**
 * Declares a route as data. The kernel authenticates, checks `permission`, validates with the given schemas and only then
 * calls `handler`. This order guarantees the handler's types, so only this function discards them.
 */
export function defineRoute<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  const Permit extends Permission = Permission,
>(route: PlainRoute<P, Q, B, Permit>): Route {
  return route as unknown as Route;
}

/** The HTTP form of an operation, which contributes its grant, schemas and errors. */
interface OperationRoute<K, I, O extends Schema, P> extends Omit<
  RouteTexts,
  'method' | 'path' | 'tag' | 'right' | 'adminOnly'
> {
  response: RouteResponse<z.output<O>>;
  /** Replaces the operation's `run` where the answer is a stream, or where headers or the raw body are part of the input. */
  handler?(call: PreparedCall<Deps, Output<K>, Output<I>, P> & { ctx: RequestContext }): Promise<unknown>;
}

/**
 * Declares the routes of operations in one group of the API reference, each at a place such as `GET /tag`. GET reads the
 * operation's input from the query, other methods read it from the body. The path contains the key, and the query contains
 * the fields of the key that the path does not contain.
 */
export function routesOf(tag: string) {
  return function route<K, I, O extends Schema, P>(
    place: `${Uppercase<Method>} /${string}`,
    operation: TypedOperation<Deps, K, I, O, P>,
    { handler, ...form }: OperationRoute<K, I, O, P>,
  ): Route {
    const { grant, right, adminOnly, key, input, errors = [], output }: DomainOperation = operation;
    const { method, path } = placeOf(place);
    const { inPath, inQuery } = splitKey(path, key as z.ZodObject | undefined);
    return {
      ...form,
      method,
      path,
      tag,
      operation,
      permission: grant,
      right,
      adminOnly,
      ...(inPath && { params: inPath }),
      ...(method === 'get' ? input && { query: input } : inQuery && { query: inQuery }),
      ...(method !== 'get' && input && { body: input }),
      errors: [...errors, ...(form.errors ?? [])],
      response: { ...form.response, schema: output },
      run: handler,
    };
  };
}

/** Splits a place such as `GET /tag`. */
export function placeOf(place: string): { method: Method; path: string } {
  const [verb = '', path = ''] = place.split(' ');
  return { method: verb.toLowerCase() as Method, path };
}

/** Returns the key of an operation for a validated request of its route, whose body may be missing. */
export function keyOf(method: Method, { params, query }: Omit<RouteInput, 'body'>): object {
  return { ...(params as object | undefined), ...(method !== 'get' && (query as object | undefined)) };
}

/** Returns the names of the parameters in a path. */
export function parametersIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Splits a key into the parameters of the path and the remaining fields. */
function splitKey(
  path: string,
  { shape }: z.ZodObject = z.object({}),
): { inPath?: z.ZodObject; inQuery?: z.ZodObject } {
  const names = parametersIn(path);
  const others = Object.entries(shape).filter(([name]) => !names.includes(name));
  return {
    ...(names.length > 0 && { inPath: z.object(Object.fromEntries(names.map((name) => [name, shape[name] ?? Id]))) }),
    ...(others.length > 0 && { inQuery: z.object(Object.fromEntries(others)) }),
  };
}

/** Returns whether policies and records apply. Reads of the platform are only authorized and rate-limited. */
export function isGoverned({ operation, tool }: Pick<Route, 'operation' | 'tool'>): boolean {
  return tool !== undefined || (operation !== undefined && operation.effect !== 'read');
}
