import { z } from 'zod';
import { AppError } from '../errors.js';
import { Grant, holdsEverywhere, isAdminRole, isGovernanceGrant } from './grants.js';
import { Id, OrganizationId, ProjectId, UserId } from '../ids.js';

/** The scope and grants of a credential, as stored and returned (specification, API key: `scope`). */
export const CredentialScope = z.object({
  org_id: OrganizationId,
  dept_id: Id,
  project_id: ProjectId,
  user_id: UserId,
  role: z.string().meta({ example: 'OWNER' }),
  grants: z.array(Grant),
});

/**
 * The type of credential. An execution acts for the person who started it; a service acts for the person who configured
 * it, or for nobody.
 */
export const principalKinds = ['api_key', 'user_jwt', 'session', 'execution', 'service'] as const;

/** The caller and what its credential allows. It is bound to one project (specification, tenancy). */
export interface Principal {
  kind: (typeof principalKinds)[number];
  userId: string;
  organizationId: string;
  departmentId: string;
  projectId: string;
  role: string;
  grants: readonly Grant[];
  /** The public id of the API key, never its secret. */
  keyId?: string;
  keyName?: string;
  /** Only for the kind `execution`: the run that makes the call. */
  executionId?: string;
  /** The session of a token that this service issued. The token ends with it. */
  sessionId?: string;
  /** The OAuth client that acts for the person. `kind` stays `user_jwt`. */
  clientId?: string;
  /** The OAuth grant of the token. The token ends with it. */
  grantId?: string;
  /**
   * The grants that the token itself lists. They apply to its project and limit the role's grants on any other project.
   */
  tokenGrants?: readonly Grant[];
  /** Set for a user of the external identity provider, whose token contains the role. */
  isExternal?: true;
}

/** Returns the principal of a background task that acts for a user in one project with these grants only. */
export function memberOf(
  place: Pick<Principal, 'userId' | 'organizationId' | 'projectId'>,
  grants: readonly Grant[],
): Principal {
  return { kind: 'service', departmentId: '', role: 'MEMBER', ...place, grants };
}

/** Returns whether a person acts with a user token or a session, not through a key, an OAuth client or a run. */
export function isPerson({ kind, clientId }: Pick<Principal, 'kind' | 'clientId'>): boolean {
  return (kind === 'user_jwt' || kind === 'session') && clientId === undefined;
}

/**
 * Returns whether the credential has the grant. A person with an admin role has the governance grants, unless the token
 * lists its grants. A key has only those that were given to it (decision 0009).
 */
export function holdsGrant(principal: Principal, grant: Grant): boolean {
  const { role, grants, tokenGrants, clientId } = principal;
  if (!isGovernanceGrant(grant)) return grants.includes(grant);
  if (isPerson(principal)) return isAdminRole(role) && (tokenGrants?.includes(grant) ?? true);
  return clientId === undefined && grants.includes(grant);
}

/**
 * Returns whether the caller sees the records of all projects of the organization, as owners and organization admins
 * do. An OAuth client does not.
 */
export function seesWholeOrganization({ role, clientId }: Pick<Principal, 'role' | 'clientId'>): boolean {
  return clientId === undefined && holdsEverywhere(role);
}

/** The part of a caller that the audit names. */
interface Actor {
  userId: string;
  kind: string;
  keyId?: string | undefined;
  clientId?: string | undefined;
  executionId?: string | undefined;
}

/** Returns the audit name of the caller: the kind, the user, and the key, OAuth client or run if there is one. */
export function actorOf({ userId, kind, keyId, clientId, executionId }: Actor): string {
  const by = keyId ?? clientId ?? executionId;
  return by === undefined ? `${kind}:${userId}` : `${kind}:${userId}:${by}`;
}

/**
 * Returns whether the caller has an admin role. An OAuth client has the scopes that a person consented to, never the
 * role.
 */
export function isAdmin({ role, clientId }: Pick<Principal, 'role' | 'clientId'>): boolean {
  return clientId === undefined && isAdminRole(role);
}

/** @throws AppError `scope_denied` */
export function requireAdmin(principal: Principal): void {
  if (!isAdmin(principal)) throw new AppError('scope_denied', 'this call needs an admin role on this project');
}
