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

/**
 * Returns the principal of a run that acts for the person who started it, with that person's current role and only
 * these grants.
 */
export async function principalOfRun(
  collections: Pick<Collections, 'memberships'>,
  { executionId, userId, organizationId, projectId }: ExecutionIdentity,
  grants: readonly Grant[],
): Promise<Principal> {
  const role = (await roleOn(collections, userId, { _id: projectId, organization_id: organizationId })) ?? 'MEMBER';
  return { kind: 'execution', executionId, userId, organizationId, departmentId: '', projectId, role, grants };
}
