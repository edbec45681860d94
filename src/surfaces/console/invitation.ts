import type { RequestHandler } from 'express';
import { isRefusal } from '../../base/errors.js';
import { acceptInvitation, openInvitation } from '../../domain/invitations/operations/accept.js';
import { seeOther, sendPage } from '../browser/send-page.js';
import { callerOf } from '../browser/caller-of.js';
import { signInAt } from '../browser/sign-in.js';
import { headersOf, statusOf } from '../rest/error-answers.js';
import { invitationPage } from './pages/invitation.js';
import { fieldOf, queryOf, type ConsoleDeps } from './visit.js';

/** Shows an invitation to whoever has its link. An invitation that is not open is answered 404. */
export function showInvitation({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const token = queryOf(req, 'token') ?? '';
    const invitation = await openInvitation(deps, token);
    const session = browsers.read(req);
    browsers.write(res, session);
    sendPage(res, invitationPage({ csrf: session.csrf, token, invitation }));
  };
}

/** Creates the account, signs the person in and opens the console. Renders the form again if a value is refused. */
export function acceptByForm({ deps, browsers }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const { csrf } = browsers.readForm(req, fieldOf(req, 'csrf_token') ?? null);
    const [token = '', name = '', password = ''] = ['token', 'name', 'password'].map((field) => fieldOf(req, field));
    const invitation = await openInvitation(deps, token);
    try {
      const email = await acceptInvitation(deps, { token, name, password });
      const person = await signInAt(deps, { email, password, ...callerOf(req) });
      browsers.write(res, { csrf, person });
      seeOther(res, '/console');
    } catch (error) {
      if (!isRefusal(error)) throw error;
      res.status(statusOf(error)).set(headersOf(error));
      sendPage(res, invitationPage({ csrf, token, invitation, name, problem: error.message }));
    }
  };
}
