import { holdsEverywhere, rolesOf } from '../../../auth/grants.js';
import type { Principal } from '../../../auth/principal.js';
import { scopeOn } from '../../../auth/resolve-scope.js';
import { findActiveProject } from '../../../auth/project-roles.js';
import { grantRole, namesOf } from '../../../auth/users.js';
import { AppError, isAppError } from '../../../base/errors.js';
import { sha256Hex } from '../../../base/hash.js';
import { epochSeconds } from '../../../base/time.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { isDuplicateKey } from '../../../stores/mongo.js';
import type { Deps } from '../../deps.js';
import { requireAuthorityOver } from '../../members/operations.js';
import { invitationTokens } from '../operations.js';
import type { InvitationDocument } from '../record.js';

/** What the page of an invitation says. */
export interface OpenInvitation {
  email: string;
  project: string;
  inviter: string;
  roles: readonly string[];
}

const minPasswordLength = 12;
const maxPasswordLength = 1024;
const maxNameLength = 200;

/** @throws AppError `not_found` for an unknown, expired, accepted or withdrawn invitation */
export async function openInvitation(deps: Deps, token: string): Promise<OpenInvitation> {
  const invitation = await findInvitation(deps, token);
  const { email, invited_by, project_id } = invitation;
  const [project, names] = await Promise.all([
    findActiveProject(deps.mongo.collections, project_id),
    namesOf(deps.mongo.collections, [invited_by]),
  ]);
  return { email, project: project?.name ?? '', inviter: names.get(invited_by) ?? '', roles: rolesOf(invitation) };
}

/**
 * Creates the user with a name and a password, and gives the roles. A repeat after a crash continues with the same user.
 * @returns the email address of the user
 * @throws AppError `not_found` as `openInvitation`; `validation_failed`; `conflict` if the address has an account;
 * `plan_limit`
 */
export async function acceptInvitation(
  deps: Deps,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<string> {
  const invitation = await findInvitation(deps, token);
  const shownName = name.trim();
  if (shownName === '' || shownName.length > maxNameLength)
    throw new AppError('validation_failed', `the name must have 1 to ${maxNameLength} characters`);
  if (password.length < minPasswordLength || password.length > maxPasswordLength)
    throw new AppError(
      'validation_failed',
      `the password must have ${minPasswordLength} to ${maxPasswordLength} characters`,
    );
  const { _id, user_id: userId, email, organization_id: organizationId, project_id, role } = invitation;
  const { collections } = deps.mongo;
  await deps.customers.reserve(organizationId, 'number_of_members', userId);
  await createUser(deps, invitation, shownName, password);
  const projectId = holdsEverywhere(role) ? null : project_id;
  await grantRole(collections, { userId, organizationId, projectId, role, roles: rolesOf(invitation) });
  await collections.invitations.deleteOne({ _id });
  await deps.governance.audit.append({
    organization_id: organizationId,
    actor: `user_jwt:${userId}`,
    action: 'accept-invitation',
    resource: `project:${project_id}`,
    outcome: `completed: invited by ${invitation.invited_by}`,
    lifecycle_id: null,
  });
  return email;
}

async function createUser(
  { auth, mongo }: Deps,
  { user_id, email, organization_id }: InvitationDocument,
  name: string,
  password: string,
): Promise<void> {
  const password_hash = await auth.passwords.hash(password);
  const user = { _id: user_id, email, name, password_hash, organization_id, created_at: epochSeconds() };
  try {
    await insertOnce(mongo.collections.users, user);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new AppError('conflict', `${email} has an account already: sign in, and ask to be added as a member`);
  }
}

/** Finds an invitation whose inviter may still give its roles. */
async function findInvitation(deps: Deps, token: string): Promise<InvitationDocument> {
  const { invitations } = deps.mongo.collections;
  const found = invitationTokens.isWellFormed(token)
    ? await invitations.findOne({ token_hash: sha256Hex(token) })
    : null;
  const isOpen = found && found.expires_at > new Date() && (await isStillAllowed(deps, found));
  if (!isOpen)
    throw new AppError('not_found', 'the invitation was used, withdrawn, or has expired: ask for another one');
  return found;
}

async function isStillAllowed(deps: Deps, invitation: InvitationDocument): Promise<boolean> {
  const { invited_by, project_id } = invitation;
  const person: Principal = {
    ...{ kind: 'user_jwt', userId: invited_by, organizationId: '', departmentId: '', projectId: '', role: '' },
    grants: [],
  };
  const inviter = await scopeOn(deps, person, project_id);
  if (!inviter) return false;
  try {
    requireAuthorityOver(inviter, rolesOf(invitation));
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return false;
  }
}
