import type { Request, RequestHandler, Response } from 'express';
import { whileLive } from '../auth/browser/sign-in.js';
import type { BrowserSession, BrowserSessions } from '../auth/browser/browser-session.js';
import { placeFor, type Place } from '../auth/places.js';
import type { Principal } from '../auth/principal.js';
import { scopeOn } from '../auth/resolve-scope.js';
import type { Deps } from '../deps.js';
import { isAppError, notFound, type AppError } from '../errors.js';
import { type Method } from '../http/define-route.js';
import { seeOther } from '../http/pages/send-page.js';
import type { ConsolePorts } from './ports.js';

export interface ConsoleDeps {
  deps: Deps;
  ports: ConsolePorts;
  browsers: BrowserSessions;
}

export type Person = NonNullable<BrowserSession['person']>;

/** A person who is signed in, on whichever page. */
export interface PersonVisit {
  req: Request;
  res: Response;
  csrf: string;
  person: Person;
}

/** A person in a project, with the role and the grants that they have there now. */
export interface Visit extends PersonVisit {
  principal: Principal;
  place: Place;
  /** The address of the project's pages. */
  base: string;
  deps: Deps;
  ports: ConsolePorts;
  /** An operation of the API, under its own rules. @throws AppError as the route does */
  call(method: Method, path: string, input?: CallInput): Promise<unknown>;
  permits(method: Method, path: string): boolean;
}

export interface CallInput {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

const signInPath = '/console/sign-in';

/** Before every page but sign-in: whoever is not signed in is sent there, and comes back. */
export function signedIn({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (req, res, next) => {
    const isForm = req.method === 'POST';
    const given = isForm ? browsers.readForm(req, fieldOf(req, 'csrf_token') ?? null) : browsers.read(req);
    const session = await whileLive(deps, given);
    if (!session.person) return seeOther(res, isForm ? signInPath : `${signInPath}?next=${encodeURIComponent(req.originalUrl)}`);
    const visit: PersonVisit = { req, res, csrf: session.csrf, person: session.person };
    res.locals.visit = visit;
    // A page that only looks for news does not keep its person signed in.
    if (req.get('x-console-refresh') === undefined) browsers.write(res, { csrf: session.csrf, person: session.person });
    next();
  };
}

/** Before the pages of a project. A project that the person has no role on is not found. */
export function inProject({ deps, ports }: ConsoleDeps): RequestHandler<{ projectID: string }> {
  return async (req, res, next) => {
    const of = res.locals.visit as PersonVisit;
    const projectId = req.params.projectID;
    const principal = await scopeOn(deps, nobodyIn(of.person), projectId);
    const place = principal && (await placeFor(deps.mongo.collections, of.person.userId, projectId));
    if (!place) throw notFound('project');
    const visit: Visit = {
      ...of,
      principal,
      place,
      base: `/console/projects/${encodeURIComponent(projectId)}`,
      deps,
      ports,
      call: (method, path, input) => ports.api.call(method, path, { principal, req: of.req, res, ...input }),
      permits: (method, path) => ports.api.permits(method, path, principal),
    };
    res.locals.visit = visit;
    next();
  };
}

/** The visit that `signedIn` and `inProject` have prepared. */
export function visitOf(res: Response): Visit {
  return res.locals.visit as Visit;
}

/** A user as a user token would have it, before a project is settled. */
function nobodyIn({ userId, sessionId }: Person): Principal {
  return { kind: 'user_jwt', userId, sessionId, organizationId: '', departmentId: '', projectId: '', role: '', grants: [] };
}

/** The conflict that stood against a request; any other error goes on to the page that tells of it. */
export function conflictIn(error: unknown): AppError {
  if (!isAppError(error) || error.code !== 'conflict') throw error;
  return error;
}

/** Temporal may be down; the records then still show what was. */
export function undefinedWithoutTemporal(error: unknown): undefined {
  if (isAppError(error) && error.code === 'unavailable') return undefined;
  throw error;
}

/** A field of the form that was sent; undefined where it was sent twice or not at all. */
export function fieldOf(req: Request, name: string): string | undefined {
  const form: unknown = req.body;
  const value = typeof form === 'object' && form !== null && Object.hasOwn(form, name) ? (form as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** A parameter of the address; undefined where it is empty, as forms send what was left open. */
export function queryOf(req: Request, name: string): string | undefined {
  const value = req.query[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
