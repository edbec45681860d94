import { Router, type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import { findProjectChoice } from '../../auth/project-choices.js';
import { rightsOf, rolesOf } from '../../auth/grants.js';
import { heldGrants, type Principal } from '../../auth/principal.js';
import { scopeOn } from '../../auth/resolve-scope.js';
import { jsonBody } from '../../http/json-body.js';
import { onlyMethods } from '../../http/method-not-allowed.js';
import { validate } from '../../base/validation.js';
import { csrfHeader, principalOf } from '../browser/console-session.js';
import { callerOf } from '../browser/caller-of.js';
import { signInAt, whileLive } from '../browser/sign-in.js';
import type { BrowserSession } from '../browser/browser-session.js';
import { errorHandler } from '../rest/error-answers.js';
import { mayCall } from '../rest/mount.js';
import type { Route } from '../rest/define-route.js';
import { queryOf, type ConsoleDeps } from './visit.js';

const SignIn = z.strictObject({ email: z.string(), password: z.string() });

/**
 * Serves what the app needs before it calls the API: the CSRF secret for its requests, the signed-in person, and the
 * permissions of that person in the project of the query string. `POST` signs in while the app stays open.
 */
export function sessionRoutes(consoleDeps: ConsoleDeps): Router {
  const router = Router();
  const show: RequestHandler = async (req, res) => {
    const session = await whileLive(consoleDeps.deps, consoleDeps.browsers.read(req));
    // Automatic refreshes do not extend the session.
    if (!session.person || req.get('x-console-refresh') === undefined) consoleDeps.browsers.write(res, session);
    res.set('Cache-Control', 'no-store').json(await viewOf(consoleDeps, req, session));
  };
  const signIn: RequestHandler = async (req, res) => {
    const { csrf } = consoleDeps.browsers.readForm(req, req.get(csrfHeader) ?? null);
    const { email, password } = validate(SignIn, req.body, 'invalid_request');
    const person = await signInAt(consoleDeps.deps, { email, password, ...callerOf(req) });
    consoleDeps.browsers.write(res, { csrf, person });
    res.set('Cache-Control', 'no-store').json(await viewOf(consoleDeps, req, { csrf, person, until: 0 }));
  };
  router
    .route('/')
    .get(show)
    .post(...jsonBody('16kb'), signIn)
    .all(onlyMethods('GET, POST'));
  router.use(errorHandler);
  return router;
}

async function viewOf({ deps, routes }: ConsoleDeps, req: Request, { csrf, person }: BrowserSession) {
  const projectId = queryOf(req, 'projectID');
  const principal = person && projectId !== undefined ? await scopeOn(deps, principalOf(person), projectId) : undefined;
  const choice = principal && (await findProjectChoice(deps.mongo.collections, principal.userId, principal.projectId));
  return {
    csrf_token: csrf,
    person: person ? { user_id: person.userId, email: person.email } : null,
    project: choice
      ? {
          _id: choice.projectId,
          name: choice.project,
          organization: choice.organization,
          role: choice.role,
          roles: choice.roles,
        }
      : null,
    /** The operations that the person may call in the project, as `<method> <path>`. */
    may: principal ? permitted(routes, principal) : [],
    /** The grants of the person in the project. Some lists are shorter without one. */
    grants: principal ? heldGrants(principal) : [],
    /** What the roles of the person permit in the project. */
    rights: principal ? [...rightsOf(rolesOf(principal))] : [],
  };
}

function permitted(routes: readonly Route[], principal: Principal): string[] {
  return routes.filter((route) => mayCall(route, principal)).map(({ method, path }) => `${method} ${path}`);
}
