import type { Grant } from './grants.js';

/** Who calls, and what the credential lets them do; its project is pinned (specification, tenancy). */
export interface Principal {
  kind: 'api_key' | 'user_jwt' | 'session';
  userId: string;
  organizationId: string;
  departmentId: string;
  projectId: string;
  role: string;
  grants: readonly Grant[];
  /** The API key's public id; never its secret. */
  keyId?: string;
}

/** Owners and organization administrators see every project of their organization. */
export function seesWholeOrganization(principal: Principal): boolean {
  return principal.role === 'OWNER' || principal.role === 'ORG_ADMIN';
}
