import { toStoredRoles, type Grant } from './grants.js';
import type { Principal } from './principal.js';
import { requireAuthority } from './present-authority.js';

export interface ExecutionIdentity {
  executionId: string;
  /** The person who created the execution. */
  userId: string;
  organizationId: string;
  projectId: string;
}

/**
 * Returns the principal of a run that acts for the person who started it, with that person's current roles and only
 * these grants.
 * @throws AppError `no_authority` for a person who has no role that includes the grants
 */
export async function principalOfRun(
  collections: Parameters<typeof requireAuthority>[0],
  identity: ExecutionIdentity,
  grants: readonly Grant[],
): Promise<Principal> {
  const { roles } = await requireAuthority(collections, identity, grants);
  return { kind: 'execution', ...identity, departmentId: '', grants, ...toStoredRoles(roles) };
}
