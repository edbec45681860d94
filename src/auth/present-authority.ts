import { AppError } from '../base/errors.js';
import type { Collections } from '../stores/collections.js';
import { readFresh } from '../stores/fresh-reads.js';
import { epochSeconds } from '../base/time.js';
import { externalRolesOn } from './external-identities.js';
import { grantsOfWork, type Grant, type Roles } from './grants.js';
import { rolesOn } from './users.js';

/** The person for whom work is done, and the project of the work. */
export interface Owner {
  userId: string;
  organizationId: string;
  projectId: string;
}

/** What the work of a person may do on a project now. */
export interface PresentAuthority extends Roles {
  grants: readonly Grant[];
}

type Stores = Pick<Collections, 'memberships' | 'users' | 'projects' | 'external_identities' | 'api_keys'>;

/**
 * Returns what the person may do on the project now. Without a role there is no authority: undefined for a person without
 * a role, for a deleted user, for a deleted project, and for a user of an external identity provider whose last token has
 * expired and who has no API key on the project.
 */
export async function presentAuthorityOf(collections: Stores, owner: Owner): Promise<PresentAuthority | undefined> {
  const { userId, organizationId, projectId } = owner;
  const place = { _id: projectId, organization_id: organizationId };
  const [project, user, held] = await Promise.all([
    readFresh(collections.projects, projectId),
    readFresh(collections.users, userId),
    rolesOn(collections, userId, place),
  ]);
  if (project?.organization_id !== organizationId || project.status === 'deleted') return undefined;
  if (user) return toAuthority(held);
  const external = await externalRolesOn(collections, userId, place, epochSeconds());
  return external !== undefined ? toAuthority(external) : authorityOfKeys(collections, owner);
}

function toAuthority(held: Roles | undefined): PresentAuthority | undefined {
  return held && { ...held, grants: grantsOfWork(held.roles) };
}

/** A key of a user of an external identity provider keeps its grants until somebody revokes it. */
async function authorityOfKeys(
  { api_keys }: Pick<Stores, 'api_keys'>,
  { userId, organizationId, projectId }: Owner,
): Promise<PresentAuthority | undefined> {
  const own = { 'scope.org_id': organizationId, 'scope.project_id': projectId, 'scope.user_id': userId };
  const keys = await api_keys.find({ ...own, revoked_at: null }, { projection: { scope: 1 } }).toArray();
  const [first] = keys;
  if (!first) return undefined;
  const { role } = first.scope;
  return { role, roles: [role], grants: [...new Set(keys.flatMap(({ scope }) => scope.grants))] };
}

/**
 * Returns what the person may do on the project now.
 * @throws AppError `no_authority` for a person without a role, and for one whose roles lack one of the grants
 */
export async function requireAuthority(
  collections: Stores,
  owner: Owner,
  grants: readonly Grant[],
): Promise<PresentAuthority> {
  const authority = await presentAuthorityOf(collections, owner);
  if (!authority) throw new AppError('no_authority', `the person ${owner.userId} has no role on the project any more`);
  const missing = grants.find((grant) => !authority.grants.includes(grant));
  if (missing === undefined) return authority;
  throw new AppError(
    'no_authority',
    `the role ${authority.roles.join(', ')} of the person ${owner.userId} does not include ${missing}`,
  );
}
