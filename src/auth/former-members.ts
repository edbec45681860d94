import { AppError } from '../base/errors.js';
import type { Collections } from '../stores/collections.js';
import type { Owner } from './present-authority.js';
import { rolesOn } from './users.js';

type Stores = Pick<Collections, 'users' | 'memberships'>;

/**
 * Returns whether a known user no longer has a role on the project. Users of an external identity provider are unknown.
 */
export async function isFormerMember(
  collections: Stores,
  { userId, organizationId, projectId }: Owner,
): Promise<boolean> {
  if ((await rolesOn(collections, userId, { _id: projectId, organization_id: organizationId })) !== undefined)
    return false;
  return (await collections.users.findOne({ _id: userId })) !== null;
}

/** @throws AppError `access_denied` if the owner was removed from the project */
export async function refuseFormerMember(collections: Stores, owner: Owner, what: string): Promise<void> {
  if (await isFormerMember(collections, owner))
    throw new AppError('access_denied', `the person who created the ${what} is no longer a member of the project`);
}
