import type { Request, RequestHandler, Response } from 'express';
import { principalOf } from '../browser/console-session.js';
import { whileLive } from '../browser/sign-in.js';
import type { BrowserSession, BrowserSessions } from '../browser/browser-session.js';
import { findProjectChoice } from '../../auth/project-choices.js';
import { scopeOn } from '../../auth/resolve-scope.js';
import type { Deps } from '../../domain/deps.js';
import { notFound } from '../../base/errors.js';
import { seeOther } from '../browser/send-page.js';
import type { Route } from '../rest/define-route.js';

export interface ConsoleDeps {
  deps: Deps;
  /** The routes of the platform and the gateway, which the app calls. */
  routes: readonly Route[];
  /** Returns the public URL, which is known once the port is bound. */
  baseUrl(): string;
  browsers: BrowserSessions;
}

/** A request of a signed-in person for any page. */
export interface PersonVisit {
  req: Request;
  res: Response;
  csrf: string;
  person: NonNullable<BrowserSession['person']>;
}

/** A request of a signed-in person for a page of a project in which they have a role. */
interface Visit extends PersonVisit {
  /** The URL path of the project. */
  base: string;
}

const signInPath = '/console/sign-in';

/**
 * Middleware of every page except sign-in. Redirects people who are not signed in to the sign-in page, which returns
 * them afterwards.
 */
export function signedIn({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (req, res, next) => {
    const isForm = req.method === 'POST';
    const stored = isForm ? browsers.readForm(req, fieldOf(req, 'csrf_token') ?? null) : browsers.read(req);
    const session = await whileLive(deps, stored);
    if (!session.person)
      return seeOther(res, isForm ? signInPath : `${signInPath}?next=${encodeURIComponent(req.originalUrl)}`);
    const visit: PersonVisit = { req, res, csrf: session.csrf, person: session.person };
    res.locals.visit = visit;
    // Automatic refreshes do not extend the session.
    if (req.get('x-console-refresh') === undefined) browsers.write(res, { csrf: session.csrf, person: session.person });
    next();
  };
}

/**
 * Middleware of the pages of a project.
 * @throws AppError `not_found` if the person has no role on the project
 */
export function inProject({ deps }: ConsoleDeps): RequestHandler<{ projectID: string }> {
  return async (req, res, next) => {
    const personVisit = res.locals.visit as PersonVisit;
    const projectId = req.params.projectID;
    const principal = await scopeOn(deps, principalOf(personVisit.person), projectId);
    const choice = principal && (await findProjectChoice(deps.mongo.collections, personVisit.person.userId, projectId));
    if (!choice) throw notFound('project');
    const visit: Visit = { ...personVisit, base: `/console/projects/${encodeURIComponent(projectId)}` };
    res.locals.visit = visit;
    next();
  };
}

/** Returns the visit that `signedIn` and `inProject` prepared. */
export function visitOf(res: Response): Visit {
  return res.locals.visit as Visit;
}

/** Returns a field of the submitted form; undefined if it is missing or repeated. */
export function fieldOf(req: Request, name: string): string | undefined {
  const form: unknown = req.body;
  const value =
    typeof form === 'object' && form !== null && Object.hasOwn(form, name)
      ? (form as Record<string, unknown>)[name]
      : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Returns a query parameter; undefined if it is empty, because forms also send empty fields. */
export function queryOf(req: Request, name: string): string | undefined {
  const value = req.query[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
