import { z } from 'zod';
import { AppError } from '../base/errors.js';
import {
  defaultGrants,
  Grant,
  grantsOfRoles,
  grantsOfWork,
  holdsEverywhere,
  isAdminRole,
  isGovernanceGrant,
  rightsOf,
  rolesOf,
  type Right,
} from './grants.js';
import { Id, OrganizationId, ProjectId, UserId } from '../base/ids.js';

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
  /** The highest role. */
  role: string;
  /** All roles, if there are several (`rolesOf`). */
  roles?: readonly string[];
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

/** What a call needs. A program needs the grant, and a person one of the rights. */
export interface Permission {
  /** `any` accepts every valid credential. */
  grant: Grant | 'any';
  /** Only if the grant says too little about people. Otherwise a person needs a role that has the grant. */
  right?: readonly Right[] | undefined;
}

/**
 * Returns whether the caller has the permission. Roles decide for people, and grants for programs. An OAuth client needs
 * both: the scope, and the right of its person. A token of the identity provider that lists grants has those.
 */
export function permits(principal: Principal, { grant, right }: Permission): boolean {
  const { grants, tokenGrants, clientId } = principal;
  if (hasWholeRoles(principal)) return rolesPermit(principal, { grant, right });
  const isGovernance = grant !== 'any' && isGovernanceGrant(grant);
  const isListed = grant === 'any' || grants.includes(grant);
  if (clientId !== undefined) return isListed && !isGovernance && hasOneOf(principal, right);
  if (isPerson(principal) && isGovernance)
    return (tokenGrants?.includes(grant) ?? isAdminRole(principal.role)) && rolesPermit(principal, { grant, right });
  return isListed;
}

/** Returns whether a person has all that their roles permit. Fewer grants than the defaults of the role limit them. */
function hasWholeRoles(principal: Principal): boolean {
  const { role, grants, tokenGrants } = principal;
  return isPerson(principal) && !tokenGrants && defaultGrants(role).every((grant) => grants.includes(grant));
}

function rolesPermit(principal: Principal, { grant, right }: Permission): boolean {
  if (right) return hasOneOf(principal, right);
  return grant === 'any' || grantsOfRoles(rolesOf(principal)).includes(grant);
}

function hasOneOf(principal: Principal, right: Permission['right']): boolean {
  const held = rightsOf(rolesOf(principal));
  return right === undefined || right.some((each) => held.has(each));
}

/** Returns whether the caller has the grant: a person by a role, a program by its credential (decision 0017). */
export function holdsGrant(principal: Principal, grant: Grant): boolean {
  return permits(principal, { grant });
}

/** All grants that the caller has. */
export function heldGrants(principal: Principal): readonly Grant[] {
  return Grant.options.filter((grant) => holdsGrant(principal, grant));
}

/**
 * The caller with the grants that rules and work in the background see. A token of a person lists only the default grants
 * (specification, API keys 3), so those of the roles are added.
 */
export function withGrantsOfRoles(principal: Principal): Principal {
  if (!hasWholeRoles(principal)) return principal;
  return { ...principal, grants: grantsOfWork(rolesOf(principal)) };
}

/** Returns whether the caller sees all runs of the project. Otherwise it sees only those of its person. */
export function seesAllRuns(principal: Principal): boolean {
  const isLimitedByRoles = principal.clientId !== undefined || hasWholeRoles(principal);
  return !isLimitedByRoles || hasOneOf(principal, ['read']);
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

/** Returns whether the caller may call what is for admins. A person with a right that the operation names may as well. */
export function passesAdminOnly(
  principal: Principal,
  { adminOnly, right }: { adminOnly?: boolean | undefined; right?: unknown },
): boolean {
  return adminOnly !== true || isAdmin(principal) || (right !== undefined && isPerson(principal));
}

/** @throws AppError `scope_denied` */
export function requireAdmin(principal: Principal): void {
  if (!isAdmin(principal)) throw new AppError('scope_denied', 'this call needs an admin role on this project');
}
