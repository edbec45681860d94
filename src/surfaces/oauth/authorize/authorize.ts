import type { AuthorizeDeps, Visit } from './visit.js';
import type { Request, RequestHandler, Response } from 'express';
import { isRefusal } from '../../../base/errors.js';
import { headersOf, statusOf } from '../../rest/error-answers.js';
import { formActionSource, redirectHost } from '../../../auth/oauth/redirect-uri.js';
import { formOf, queryOf, queryTextOf } from '../form-body.js';
import { isOauthError, OauthError } from '../oauth-error.js';
import { callerOf } from '../../browser/caller-of.js';
import { seeOther, sendPage } from '../../browser/send-page.js';
import { errorPage } from '../pages/error-page.js';
import { signInPage } from '../pages/sign-in-page.js';
import {
  destinationOf,
  errorAddress,
  readAuthorizationRequest,
  type AuthorizationRequest,
} from './authorization-request.js';
import { consentPageFor, decide } from './consent.js';
import { signInAt, signOutOf, whileLive } from '../../browser/sign-in.js';

/** Shows the sign-in page, or the consent page if the person is signed in (RFC 6749, 3.1). */
export function showAuthorization(deps: AuthorizeDeps): RequestHandler {
  return async (req, res) => {
    const request = await requestOf(deps, req, res);
    if (!request) return;
    const session = await whileLive(deps, deps.browsers.read(req));
    deps.browsers.write(res, session);
    await showConsent({ deps, req, res, request, session, page: pageOf(req) }, new URLSearchParams());
  };
}

const actions: Record<string, (visit: Visit, form: URLSearchParams) => Promise<void>> = {
  'sign-in': signInAction,
  'sign-out': signOutAction,
  show: (visit, form) => showConsent(visit, form),
  allow: allowAction,
  deny: denyAction,
};

/** Handles the forms of the page. */
export function answerAuthorization(deps: AuthorizeDeps): RequestHandler {
  return async (req, res) => {
    const form = formOf(req);
    const session = await whileLive(deps, deps.browsers.readForm(req, form.get('csrf_token')));
    const request = await requestOf(deps, req, res);
    if (!request) return;
    const act = Object.hasOwn(actions, form.get('action') ?? '') ? actions[form.get('action') ?? ''] : undefined;
    if (!act) throw new OauthError('invalid_request', 'the form was not sent by one of its buttons');
    await act({ deps, req, res, request, session, page: pageOf(req) }, form);
  };
}

/**
 * Reads the request. Returns undefined after it has shown a refusal. Clients are not verified, so a faulty request must
 * not be redirected automatically: this service would become an open redirector (RFC 9700, 4.11.2). The person can
 * follow the link to the app.
 */
async function requestOf(deps: AuthorizeDeps, req: Request, res: Response): Promise<AuthorizationRequest | undefined> {
  const query = queryOf(req);
  const destination = await destinationOf(query, deps.findClient, req.ip ?? '');
  const request = readAuthorizationRequest(query, destination, deps.baseUrl());
  if (!isOauthError(request)) return request;
  const back = {
    address: errorAddress(destination, request, deps.baseUrl()),
    host: redirectHost(destination.redirectUri),
  };
  sendPage(res.status(request.status), errorPage(request.message, back), { keepsOpener: true });
  return undefined;
}

function showSignIn(
  { res, request, session, page }: Visit,
  failure?: { email: string; problem: string; status: number },
): void {
  const html = signInPage({
    client: request.client,
    redirectUri: request.redirectUri,
    page,
    csrf: session.csrf,
    ...failure,
  });
  sendPage(res.status(failure?.status ?? 200), html, {
    formTarget: formActionSource(request.redirectUri),
    keepsOpener: true,
  });
}

async function signInAction(visit: Visit, form: URLSearchParams): Promise<void> {
  const { deps, req, res, session } = visit;
  const email = form.get('email') ?? '';
  const person = await signInAt(deps, { email, password: form.get('password') ?? '', ...callerOf(req) }).catch(
    (error: unknown) => {
      if (!isRefusal(error)) throw error;
      res.set(headersOf(error));
      showSignIn(visit, { email, problem: error.message, status: statusOf(error) });
      return undefined;
    },
  );
  if (!person) return;
  deps.browsers.write(res, { csrf: session.csrf, person });
  seeOther(res, visit.page);
}

async function signOutAction({ deps, res, session, page }: Visit): Promise<void> {
  await signOutOf(deps, session);
  deps.browsers.write(res, { csrf: session.csrf });
  seeOther(res, page);
}

async function showConsent(visit: Visit, form: URLSearchParams, problem?: string): Promise<void> {
  const { res, request, session } = visit;
  if (!session.person) return showSignIn(visit);
  const html = await consentPageFor(visit, session.person, form, problem);
  sendPage(res.status(problem === undefined ? 200 : 422), html, {
    formTarget: formActionSource(request.redirectUri),
    keepsOpener: true,
  });
}

async function allowAction(visit: Visit, form: URLSearchParams): Promise<void> {
  const { person } = visit.session;
  const decision = person ? await decide(visit, person, form) : undefined;
  if (!decision) showSignIn(visit);
  else if ('problem' in decision) await showConsent(visit, form, decision.problem);
  else seeOther(visit.res, decision.address);
}

async function denyAction({ deps, res, request }: Visit): Promise<void> {
  seeOther(
    res,
    errorAddress(request, new OauthError('access_denied', 'the person denied the request'), deps.baseUrl()),
  );
}

/** Returns the URL of this page, built from the matched path. The request's own URL could name another host. */
function pageOf(req: Request): string {
  return `/oauth/authorize?${queryTextOf(req)}`;
}
