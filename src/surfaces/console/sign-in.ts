import type { RequestHandler, Response } from 'express';
import { callerOf } from '../browser/caller-of.js';
import { signInAt, signOutOf, whileLive } from '../browser/sign-in.js';
import { isRefusal } from '../../base/errors.js';
import { headersOf, statusOf } from '../rest/error-answers.js';
import { seeOther, sendPage } from '../browser/send-page.js';
import { signInPage } from './pages/sign-in.js';
import { fieldOf, queryOf, type ConsoleDeps, type PersonVisit } from './visit.js';

export function showSignIn({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const session = await whileLive(deps, browsers.read(req));
    const next = consoleUrlOf(queryOf(req, 'next'));
    if (session.person) return seeOther(res, next);
    browsers.write(res, session);
    sendPage(res, signInPage({ csrf: session.csrf, next }));
  };
}

/** Signs in with the product's own sign-in and its throttle. Renders the form again if it refuses. */
export function signInByForm({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const { csrf } = browsers.readForm(req, fieldOf(req, 'csrf_token') ?? null);
    const next = consoleUrlOf(fieldOf(req, 'next'));
    const email = fieldOf(req, 'email') ?? '';
    try {
      const person = await signInAt(deps, { email, password: fieldOf(req, 'password') ?? '', ...callerOf(req) });
      browsers.write(res, { csrf, person });
      seeOther(res, next);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      res.status(statusOf(error)).set(headersOf(error));
      sendPage(res, signInPage({ csrf, next, email, problem: error.message }));
    }
  };
}

export function signOutByForm({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (_req, res: Response) => {
    const { csrf, person } = res.locals.visit as PersonVisit;
    await signOutOf(deps, { csrf, person, until: 0 });
    browsers.write(res, { csrf });
    seeOther(res, '/console/sign-in');
  };
}

/** Accepts only URLs of console pages, to prevent open redirects. */
function consoleUrlOf(next: string | undefined): string {
  return next !== undefined && /^\/console(?:[/?][\x21-\x7e]*)?$/.test(next) && !next.includes('\\')
    ? next
    : '/console';
}
