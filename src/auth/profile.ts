import { z } from 'zod';
import { AppError } from '../base/errors.js';
import { UserId } from '../base/ids.js';
import type { Audited } from './audit-port.js';
import type { AuthDeps } from './create-auth.js';
import { actorOf, isPerson, type Principal } from './principal.js';
import type { UserDocument } from './users.js';

const maxNameLength = 200;

/** What a person sees of their own account. */
export const Profile = z
  .object({
    user_id: UserId,
    email: z.string().meta({ example: 'grace@example.com' }),
    name: z.string().meta({ example: 'Grace' }),
  })
  .meta({ id: 'Profile' });
type Profile = z.infer<typeof Profile>;

export const ProfilePatch = z
  .strictObject({ name: z.string().trim().min(1).max(maxNameLength) })
  .meta({ id: 'ProfilePatch', example: { name: 'Grace Hopper' } });

/** Throws as `accountOf`. */
export async function readProfile(deps: AuthDeps, principal: Principal): Promise<Profile> {
  return toProfile(await accountOf(deps, principal));
}

/** Changes the name under which other people see the caller. Throws as `accountOf`. */
export async function changeProfile(
  deps: AuthDeps & Audited,
  principal: Principal,
  { name }: z.infer<typeof ProfilePatch>,
): Promise<Profile> {
  const account = await accountOf(deps, principal);
  await deps.mongo.collections.users.updateOne({ _id: account._id }, { $set: { name } });
  await deps.governance.audit.append({
    organization_id: account.organization_id,
    actor: actorOf(principal),
    action: 'profile-change',
    resource: `user:${account._id}`,
    outcome: 'completed',
    lifecycle_id: null,
  });
  return toProfile({ ...account, name });
}

/** @throws AppError `access_denied` for a caller without an account in this service */
export async function accountOf({ mongo }: AuthDeps, principal: Principal): Promise<UserDocument> {
  const isOwn = isPerson(principal) && !principal.isExternal;
  const account = isOwn ? await mongo.collections.users.findOne({ _id: principal.userId }) : null;
  if (account) return account;
  throw new AppError(
    'access_denied',
    'only a person with an account of this service can do this, with a user token or a session',
  );
}

function toProfile({ _id, email, name }: UserDocument): Profile {
  return { user_id: _id, email, name };
}
