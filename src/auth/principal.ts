import { z } from 'zod';
import { AppError } from '../errors.js';
import { Grant, isAdminRole } from './grants.js';

/** Where a credential reaches and what it may do there, as it is stored and answered (specification, API key: `scope`). */
export const CredentialScope = z.object({
  org_id: z.string(),
  dept_id: z.string(),
  project_id: z.string(),
  user_id: z.string(),
  role: z.string(),
  grants: z.array(Grant),
});

/** By what a caller is known; an execution calls for the person who made it. */
export const principalKinds = ['api_key', 'user_jwt', 'session', 'execution'] as const;

/** Who calls, and what the credential lets them do; its project is pinned (specification, tenancy). */
export interface Principal {
  kind: (typeof principalKinds)[number];
  userId: string;
  organizationId: string;
  departmentId: string;
  projectId: string;
  role: string;
  grants: readonly Grant[];
  /** The API key's public id; never its secret. */
  keyId?: string;
  /** The run that calls, of the kind `execution`. */
  executionId?: string;
  /** The session that a token of ours belongs to, and ends with. */
  sessionId?: string;
  /** The OAuth client that acts for the person; `kind` stays `user_jwt`. */
  clientId?: string;
  /** Grants that the token itself names; they hold for its project, and narrow the role's on any other. */
  tokenGrants?: readonly Grant[];
  /** A user of the configured outside identity provider, whose role its token tells. */
  outside?: true;
}

/** Somebody for whom a worker acts: in one project, with these grants and no role that gives more. */
export function memberOf(place: Pick<Principal, 'userId' | 'organizationId' | 'projectId'>, grants: readonly Grant[]): Principal {
  return { kind: 'api_key', departmentId: '', role: 'MEMBER', ...place, grants };
}

/** Owners and organization administrators see every project of their organization. */
export function seesWholeOrganization({ role, clientId }: Pick<Principal, 'role' | 'clientId'>): boolean {
  return clientId === undefined && (role === 'OWNER' || role === 'ORG_ADMIN');
}

/** An administrator acting in person: an OAuth client has the scopes that were consented to, and never the role. */
export function isAdmin({ role, clientId }: Pick<Principal, 'role' | 'clientId'>): boolean {
  return clientId === undefined && isAdminRole(role);
}

/** @throws AppError `S2:resolve-scope` (403) */
export function requireAdmin(principal: Principal): void {
  if (!isAdmin(principal)) throw new AppError('S2:resolve-scope', 'this call needs an admin role on this project');
}
