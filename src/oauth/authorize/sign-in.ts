import { decodeJwt } from 'jose';
import { signIn, type Login } from '../../auth/sign-in.js';
import { normalizeEmail } from '../../auth/users.js';
import type { AuthorizeDeps } from './authorize.js';
import type { BrowserSession } from './browser-session.js';

const longest = { email: 320, password: 1024 };

/**
 * Signs a person in for the page: the product's own sign-in, its throttle included. The user token that it makes is not
 * kept; the session that it belongs to is, so that ending that session ends this sign-in as well.
 * @throws AppError as `signIn`
 */
export async function signInAt(deps: AuthorizeDeps, { email, password, address }: Login): Promise<NonNullable<BrowserSession['person']>> {
  const login = { email: email.slice(0, longest.email), password: password.slice(0, longest.password), address };
  const { access_token, scope } = await signIn(deps, login);
  return { userId: scope.user_id, email: normalizeEmail(login.email), sessionId: String(decodeJwt(access_token).sid) };
}

export async function signOutOf({ auth }: AuthorizeDeps, { person }: BrowserSession): Promise<void> {
  if (person) await auth.sessions.revoke(person.sessionId, 'signed out');
}
