import { decodeJwt } from 'jose';
import { html, type Html } from './html.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import type { Audited } from '../../auth/audit-port.js';
import { signIn, signOut, type Login } from '../../auth/sign-in.js';
import { normalizeEmail } from '../../auth/users.js';
import { auditedSignIn } from './audited-sign-in.js';
import type { BrowserSession } from './browser-session.js';

const longest = { email: 320, password: 1024 };

export function signInFields(email = ''): Html {
  return html`<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="${longest.email}" required value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="${longest.password}" required>`;
}

/**
 * Signs a person in with the product's own sign-in and its throttle. Keeps the id of the token's session, not the
 * token, so that ending this session also ends the browser session.
 * @throws AppError like `signIn`
 */
export async function signInAt(
  deps: AuthDeps & Audited,
  { email, password, ...caller }: Login,
): Promise<NonNullable<BrowserSession['person']>> {
  const login = { email: email.slice(0, longest.email), password: password.slice(0, longest.password), ...caller };
  const { access_token, scope } = await auditedSignIn(deps, login.email, signIn(deps, login));
  return { userId: scope.user_id, email: normalizeEmail(login.email), sessionId: String(decodeJwt(access_token).sid) };
}

export async function signOutOf(deps: AuthDeps & Audited, { person }: BrowserSession): Promise<void> {
  if (person) await signOut(deps, person.sessionId, 'signed out');
}

/** Removes the person from the browser session if their sign-in session has ended elsewhere. */
export async function whileLive({ auth }: AuthDeps, { person, ...session }: BrowserSession): Promise<BrowserSession> {
  return person && (await auth.sessions.isLive(person.sessionId)) ? { ...session, person } : session;
}
