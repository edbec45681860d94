import { decodeJwt } from 'jose';
import { html, type Html } from '../../http/pages/html.js';
import type { AuthDeps } from '../create-auth.js';
import { signIn, type Login } from '../sign-in.js';
import { normalizeEmail } from '../users.js';
import type { BrowserSession } from './browser-session.js';

const longest = { email: 320, password: 1024 };

/** What a sign-in form asks for. */
export function signInFields(email = ''): Html {
  return html`<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${longest.email}" required value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="${longest.password}" required>`;
}

/**
 * Signs a person in for the page: the product's own sign-in, its throttle included. The user token that it makes is not
 * kept; the session that it belongs to is, so that ending that session ends this sign-in as well.
 * @throws AppError as `signIn`
 */
export async function signInAt(deps: AuthDeps, { email, password, address }: Login): Promise<NonNullable<BrowserSession['person']>> {
  const login = { email: email.slice(0, longest.email), password: password.slice(0, longest.password), address };
  const { access_token, scope } = await signIn(deps, login);
  return { userId: scope.user_id, email: normalizeEmail(login.email), sessionId: String(decodeJwt(access_token).sid) };
}

export async function signOutOf({ auth }: AuthDeps, { person }: BrowserSession): Promise<void> {
  if (person) await auth.sessions.revoke(person.sessionId, 'signed out');
}

/** Nobody is signed in any more where the sign-in was ended elsewhere. */
export async function whileLive({ auth }: AuthDeps, { person, ...session }: BrowserSession): Promise<BrowserSession> {
  return person && (await auth.sessions.isLive(person.sessionId)) ? { ...session, person } : session;
}
