import type { Request, RequestHandler, Response } from 'express';
import type { AuthDeps } from '../../auth/create-auth.js';
import { isAppError } from '../../errors.js';
import type { FindClient } from '../clients/client-document.js';
import type { Clients } from '../clients/clients.js';
import { formActionSource } from '../clients/redirect-uri.js';
import { formOf, queryOf, queryTextOf } from '../form-body.js';
import { isOauthError, OauthError } from '../oauth-error.js';
import { seeOther, sendPage } from '../../http/pages/send-page.js';
import { signInPage } from '../pages/sign-in-page.js';
import type { Codes } from '../token/codes.js';
import { destinationOf, errorAddress, readAuthorizationRequest, type AuthorizationRequest } from './authorization-request.js';
import type { BrowserSession, BrowserSessions } from '../../auth/browser/browser-session.js';
import { consentPageFor, decide } from './consent.js';
import { signInAt, signOutOf, whileLive } from '../../auth/browser/sign-in.js';

export interface AuthorizeDeps extends AuthDeps {
  clients: Clients;
  codes: Codes;
  findClient: FindClient;
  browsers: BrowserSessions;
  governance: { audit: ConsentAudit };
  baseUrl(): string;
}

/** The audit chain of an organization; the application hands it over. */
interface ConsentAudit {
  append(event: { organization_id: string; actor: string; action: string; resource: string; outcome: string; lifecycle_id: null }): Promise<unknown>;
}

/** What a request of the page is about. Forms come to the address of the page, so the request is read anew each time. */
export interface Visit {
  deps: AuthorizeDeps;
  req: Request;
  res: Response;
  request: AuthorizationRequest;
  session: BrowserSession;
  /** The address of the page itself, where its forms go. */
  page: string;
}

/** Opens the page: sign-in, or the consent of the person who is signed in (RFC 6749, 3.1). */
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

/** Takes the page's forms. */
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

/** Undefined when the refusal was sent to the client already. */
async function requestOf(deps: AuthorizeDeps, req: Request, res: Response): Promise<AuthorizationRequest | undefined> {
  const query = queryOf(req);
  const destination = await destinationOf(query, deps.findClient, req.ip ?? '');
  const request = readAuthorizationRequest(query, destination, deps.baseUrl());
  if (!isOauthError(request)) return request;
  seeOther(res, errorAddress(destination, request, deps.baseUrl()));
  return undefined;
}

function showSignIn({ res, request, session, page }: Visit, failure?: { email: string; problem: string; status: number }): void {
  const html = signInPage({ client: request.client, redirectUri: request.redirectUri, page, csrf: session.csrf, ...failure });
  sendPage(res.status(failure?.status ?? 200), html, { formTarget: formActionSource(request.redirectUri), keepsOpener: true });
}

async function signInAction(visit: Visit, form: URLSearchParams): Promise<void> {
  const { deps, req, res, session } = visit;
  const email = form.get('email') ?? '';
  const person = await signInAt(deps, { email, password: form.get('password') ?? '', address: req.ip ?? '' }).catch((error: unknown) => {
    if (!isAppError(error) || error.status >= 500) throw error;
    res.set(error.headers);
    showSignIn(visit, { email, problem: error.message, status: error.status });
    return undefined;
  });
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
  sendPage(res.status(problem === undefined ? 200 : 422), html, { formTarget: formActionSource(request.redirectUri), keepsOpener: true });
}

async function allowAction(visit: Visit, form: URLSearchParams): Promise<void> {
  const { person } = visit.session;
  const decision = person ? await decide(visit, person, form) : undefined;
  if (!decision) showSignIn(visit);
  else if ('problem' in decision) await showConsent(visit, form, decision.problem);
  else seeOther(visit.res, decision.address);
}

async function denyAction({ deps, res, request }: Visit): Promise<void> {
  seeOther(res, errorAddress(request, new OauthError('access_denied', 'the person did not allow it'), deps.baseUrl()));
}

/** Made of the path that was matched: the request's own could name another host. */
function pageOf(req: Request): string {
  return `/oauth/authorize?${queryTextOf(req)}`;
}
