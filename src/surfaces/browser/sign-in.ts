import { decodeJwt } from 'jose';
import { html, type Html } from './html.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import { signIn, type Login } from '../../auth/sign-in.js';
import { normalizeEmail } from '../../auth/users.js';
import type { BrowserSession } from './browser-session.js';

const longest = { email: 320, password: 1024 };

/** The fields of a sign-in form. */
export function signInFields(email = ''): Html {
  return html`<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${longest.email}" required value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="${longest.password}" required>`;
}

/**
 * Signs a person in with the product's own sign-in and its throttle. The user token is not kept, but its session is, so
 * that ending that session also ends this sign-in.
 * @throws AppError like `signIn`
 */
export async function signInAt(
  deps: AuthDeps,
  { email, password, address }: Login,
): Promise<NonNullable<BrowserSession['person']>> {
  const login = { email: email.slice(0, longest.email), password: password.slice(0, longest.password), address };
  const { access_token, scope } = await signIn(deps, login);
  return { userId: scope.user_id, email: normalizeEmail(login.email), sessionId: String(decodeJwt(access_token).sid) };
}

export async function signOutOf({ auth }: AuthDeps, { person }: BrowserSession): Promise<void> {
  if (person) await auth.sessions.revoke(person.sessionId, 'signed out');
}

/** Removes the person from the browser session if their sign-in was ended elsewhere. */
export async function whileLive({ auth }: AuthDeps, { person, ...session }: BrowserSession): Promise<BrowserSession> {
  return person && (await auth.sessions.isLive(person.sessionId)) ? { ...session, person } : session;
}
