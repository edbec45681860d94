import { AppError } from '../base/errors.js';
import type { Collections } from '../stores/collections.js';
import { isFormerMember } from './former-members.js';
import { grantableGrants, rolesOf, toStoredRoles, type Grant } from './grants.js';
import type { Owner } from './present-authority.js';
import { withGrantsOfRoles, type Principal } from './principal.js';
import { rolesOn } from './users.js';

/**
 * What the credential of a caller allowed when it caused work in the background. The record of the work keeps it, so that
 * the work can never do more than its maker (decision 0018).
 */
export interface Authority {
  grants: readonly Grant[];
  /** The role of a user whom this service does not know, from the token of the external identity provider. */
  role: string;
  /** All of them, if there are several. */
  roles?: readonly string[];
  /** The API key. The work ends with it. */
  key_id?: string;
  key_name?: string;
  /** The OAuth client and its grant. The work ends with the grant. */
  client_id?: string;
  grant_id?: string;
}

export function authorityOf(principal: Principal): Authority {
  const { keyId, keyName, clientId, grantId } = principal;
  return {
    grants: [...withGrantsOfRoles(principal).grants],
    ...toStoredRoles(rolesOf(principal)),
    ...(keyId !== undefined && { key_id: keyId }),
    ...(keyName !== undefined && { key_name: keyName }),
    ...(clientId !== undefined && { client_id: clientId }),
    ...(grantId !== undefined && { grant_id: grantId }),
  };
}

/**
 * Whoever caused work in the background. Without an authority, which is only that of the owner of a connector, the work has
 * only its person's role.
 */
export interface Maker extends Owner {
  authority?: Authority | undefined;
}

export type MakerStores = Pick<Collections, 'users' | 'memberships' | 'api_keys' | 'oauth_grants'>;

interface Work {
  /** What the maker created, for the text of a refusal, such as `schedule`. */
  what: string;
  /** The grants that the work uses. */
  needs: readonly Grant[];
  /** The run or memory that makes the call. */
  executionId?: string;
}

/**
 * Returns the principal of work in the background: its maker, with the present role and those of `needs` that the maker's
 * credential had and the role still allows. Work of an API key or OAuth client names it.
 * @throws AppError `access_denied` if the maker may not do this any more (`whyPowerless`)
 */
export async function principalOfMaker(stores: MakerStores, maker: Maker, work: Work): Promise<Principal> {
  const reason = await whyPowerless(stores, maker, work);
  if (reason !== undefined) throw new AppError('access_denied', reason);
  const { userId, organizationId, projectId, authority } = maker;
  const held = (await rolesOn(stores, userId, projectOf(maker))) ?? authority ?? { role: 'MEMBER' };
  const isKey = authority?.key_id !== undefined;
  const kind = work.executionId === undefined ? 'service' : 'execution';
  return {
    ...{ userId, organizationId, projectId, departmentId: '' },
    ...toStoredRoles(rolesOf(held)),
    kind: isKey ? 'api_key' : kind,
    grants: work.needs,
    ...(work.executionId !== undefined && { executionId: work.executionId }),
    ...(isKey && { keyId: authority.key_id }),
    ...(authority?.key_name !== undefined && { keyName: authority.key_name }),
    ...(authority?.client_id !== undefined && { clientId: authority.client_id }),
    ...(authority?.grant_id !== undefined && { grantId: authority.grant_id }),
  };
}

/**
 * Returns why the work may not continue: its person has no role, its key or OAuth grant was ended, or a grant that it needs
 * was never given or is no longer part of the role. Undefined if it may.
 */
export async function whyPowerless(
  stores: MakerStores,
  maker: Maker,
  { what, needs }: Omit<Work, 'executionId'>,
): Promise<string | undefined> {
  const { userId, authority } = maker;
  if (await isFormerMember(stores, maker))
    return `the person who created the ${what} is no longer a member of the project`;
  if (authority?.key_id !== undefined) {
    const key = await stores.api_keys.findOne({ id: authority.key_id }, { projection: { revoked_at: 1 } });
    if (!key || key.revoked_at !== null)
      return `the API key "${authority.key_name ?? authority.key_id}" that created the ${what} was revoked`;
  }
  if (authority?.grant_id !== undefined) {
    const grant = await stores.oauth_grants.findOne({ _id: authority.grant_id }, { projection: { revoked_at: 1 } });
    if (!grant || grant.revoked_at !== null) return `the access of the app that created the ${what} has ended`;
  }
  const held = await rolesOn(stores, userId, projectOf(maker));
  const ofRole = held ? grantableGrants(held.roles) : needs;
  const allowed = authority ? ofRole.filter((grant) => authority.grants.includes(grant)) : ofRole;
  const missing = needs.find((grant) => !allowed.includes(grant));
  return missing && `whoever created the ${what} no longer has the grant ${missing}`;
}

function projectOf({ projectId, organizationId }: Owner): { _id: string; organization_id: string } {
  return { _id: projectId, organization_id: organizationId };
}
