import type { Grant } from './grants.js';
import type { Principal } from './principal.js';
import { roleOn } from './users.js';
import type { Collections } from '../stores/collections.js';

export interface ExecutionIdentity {
  executionId: string;
  /** The person who created the execution. */
  userId: string;
  organizationId: string;
  projectId: string;
}

/** Returns a run as principal, before the role of the person for whom it acts is known. */
export function principalBeforeRole(identity: ExecutionIdentity, grants: readonly Grant[]): Principal {
  return { kind: 'execution', ...identity, departmentId: '', role: 'MEMBER', grants };
}

/**
 * Returns the principal of a run that acts for the person who started it, with that person's current role and only
 * these grants.
 */
export async function principalOfRun(
  collections: Pick<Collections, 'memberships'>,
  identity: ExecutionIdentity,
  grants: readonly Grant[],
): Promise<Principal> {
  const { userId, projectId, organizationId } = identity;
  const role = await roleOn(collections, userId, { _id: projectId, organization_id: organizationId });
  return { ...principalBeforeRole(identity, grants), ...(role !== undefined && { role }) };
}
