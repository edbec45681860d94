import { z } from 'zod';

/** The grants of the product (specification, API keys 3; OAuth 2.1: `codesync.write`). */
export const Grant = z.enum([
  'svc:query.read',
  'svc:docs.read',
  'svc:ontology.write',
  'svc:codesync.write',
  'svc:orchestrate.read',
  'svc:orchestrate.write',
  'svc:agent.run',
  'svc:skill.write',
  'svc:model.write',
  'svc:governance.read',
  'svc:governance.write',
]);
export type Grant = z.infer<typeof Grant>;

/**
 * The grants that an OAuth client can have: the advertised scopes (specification, OAuth 2.1), in the order of the
 * consent page.
 */
export const clientGrants = [
  'svc:query.read',
  'svc:docs.read',
  'svc:ontology.write',
  'svc:orchestrate.read',
  'svc:orchestrate.write',
  'svc:agent.run',
  'svc:codesync.write',
] as const satisfies readonly Grant[];

/** The roles of people, in ascending order. Nobody can give a higher role than their own, or change a member who has one. */
export const memberRoles = ['VIEWER', 'MEMBER', 'PROJECT_ADMIN', 'ORG_ADMIN', 'OWNER'] as const;
export type MemberRole = (typeof memberRoles)[number];

export const adminRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'] as const;
export type AdminRole = (typeof adminRoles)[number];

const governanceGrants: readonly Grant[] = ['svc:governance.read', 'svc:governance.write'];
const explicitGrants: readonly Grant[] = ['svc:codesync.write', ...governanceGrants];
const adminGrants: readonly Grant[] = Grant.options.filter((grant) => !explicitGrants.includes(grant));
const readerGrants: readonly Grant[] = ['svc:query.read', 'svc:docs.read'];

/** Returns the rank of a role, or -1, below all others, for an unknown role. */
export function rankOf(role: string): number {
  return (memberRoles as readonly string[]).indexOf(role);
}

/** Returns what the runs and the background work of a person with this role may do. A member may run agents. */
export function grantsOfWork(role: string): readonly Grant[] {
  if (isAdminRole(role)) return adminGrants;
  return role === 'MEMBER' ? [...readerGrants, 'svc:agent.run'] : readerGrants;
}

export function isAdminRole(role: string): boolean {
  return (adminRoles as readonly string[]).includes(role);
}

/** Returns whether the role applies to every project of the organization. */
export function holdsEverywhere(role: string): boolean {
  return role === 'OWNER' || role === 'ORG_ADMIN';
}

/**
 * Returns whether a grant covers policies, the audit chain or approvals of other people. These belong to the
 * organization, not to a project.
 */
export function isGovernanceGrant(grant: Grant): boolean {
  return governanceGrants.includes(grant);
}

/**
 * Returns the grants that a role may give explicitly: its default grants, for an admin also `svc:codesync.write`, and
 * for OWNER and ORG_ADMIN also the governance grants (decisions 0019 and 0009).
 */
export function grantableGrants(role: string): readonly Grant[] {
  if (holdsEverywhere(role)) return Grant.options;
  return isAdminRole(role) ? [...adminGrants, 'svc:codesync.write'] : readerGrants;
}

/** Returns the grants of a role to which none are given explicitly (specification, API keys 3). */
export function defaultGrants(role: string): readonly Grant[] {
  return isAdminRole(role) ? adminGrants : readerGrants;
}
