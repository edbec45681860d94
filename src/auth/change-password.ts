import { AppError } from '../base/errors.js';
import type { Audited } from './audit-port.js';
import type { AuthDeps } from './create-auth.js';
import { actorOf, isPerson, type Principal } from './principal.js';

interface PasswordChange {
  current: string;
  next: string;
  /** The network address of the caller, for rate limiting. */
  address: string;
}

/**
 * Replaces the password of the caller and ends their other sessions. API keys and connected apps are managed separately
 * and stay valid.
 * @throws AppError `access_denied` for a caller without a password in this service and for a wrong current password;
 * `too_many_requests` and `unavailable` as at sign-in; `conflict` if the password was changed concurrently
 */
export async function changePassword(
  deps: AuthDeps & Audited,
  principal: Principal,
  { current, next, address }: PasswordChange,
): Promise<void> {
  const { auth, mongo, governance } = deps;
  const { users } = mongo.collections;
  const user = isPerson(principal) && !principal.isExternal ? await users.findOne({ _id: principal.userId }) : null;
  if (!user)
    throw new AppError(
      'access_denied',
      'only a person with a password of this service can change it, with a user token or a session',
    );
  const succeeded = await auth.throttle.admit(user.email, address);
  const isCurrent = await auth.passwords.verify(user.password_hash, current);
  // A repeat finds the new password if the process died before it ended the other sessions.
  if (!isCurrent && !(await auth.passwords.verify(user.password_hash, next)))
    throw new AppError('access_denied', 'current_password is wrong');
  await succeeded();
  if (isCurrent) {
    const password_hash = await auth.passwords.hash(next);
    const { matchedCount } = await users.updateOne(
      { _id: user._id, password_hash: user.password_hash },
      { $set: { password_hash } },
    );
    if (matchedCount === 0) throw new AppError('conflict', 'the password was changed by another request');
  }
  await auth.sessions.revokeAll({ userId: user._id }, 'the password was changed', principal.sessionId);
  await governance.audit.append({
    organization_id: user.organization_id,
    actor: actorOf(principal),
    action: 'password-change',
    resource: `user:${user._id}`,
    outcome: 'completed',
    lifecycle_id: null,
  });
}
