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

const governanceGrants: readonly Grant[] = ['svc:governance.read', 'svc:governance.write'];

/** The grants that a credential has only if they were given to it explicitly. */
const explicitGrants: readonly Grant[] = ['svc:codesync.write', ...governanceGrants];

/**
 * Returns whether a grant covers policies, the audit chain or approvals of other people. These belong to the
 * organization, not to a project.
 */
export function isGovernanceGrant(grant: Grant): boolean {
  return governanceGrants.includes(grant);
}

/** What each right of a person permits. An operation needs one of the grants, or a right if the grant is too coarse. */
export const rights = {
  query: { does: 'search the context graph, read the guides', grants: ['svc:query.read', 'svc:docs.read'] },
  run: { does: 'start runs; see and steer the runs that one has started', grants: ['svc:agent.run'] },
  read: {
    does: 'read everything in the project except secrets',
    grants: ['svc:orchestrate.read', 'svc:governance.read'],
  },
  edit: {
    does: 'change flows, skills, schedules, connectors, tables, files, dashboards and knowledge; steer all runs',
    grants: ['svc:orchestrate.write', 'svc:ontology.write', 'svc:skill.write', 'svc:model.write'],
  },
  decide: { does: 'decide approvals, previews, reviews of memories and questions', grants: [] },
  manage: { does: 'manage members, API keys, policies, settings and the project', grants: ['svc:governance.write'] },
  own: { does: 'change the settings of the organization; give the role OWNER', grants: [] },
} as const satisfies Record<string, { does: string; grants: readonly Grant[] }>;
export type Right = keyof typeof rights;
export const rightNames = Object.keys(rights) as Right[];

/** People with only the right `run` see and steer the runs that they have started (`seesAllRuns`). */
export const seeingRuns: readonly Right[] = ['read', 'run'];
export const steeringRuns: readonly Right[] = ['edit', 'run'];

interface RoleDefinition {
  appliesTo: 'project' | 'organization';
  rights: readonly Right[];
}

/** The roles of people in ascending order, with their rights. The only definition of what a role permits. */
export const roleTable = {
  VIEWER: { appliesTo: 'project', rights: ['query', 'read'] },
  MEMBER: { appliesTo: 'project', rights: ['query', 'run'] },
  APPROVER: { appliesTo: 'project', rights: ['query', 'read', 'decide'] },
  EDITOR: { appliesTo: 'project', rights: ['query', 'run', 'read', 'edit'] },
  PROJECT_ADMIN: { appliesTo: 'project', rights: ['query', 'run', 'read', 'edit', 'decide', 'manage'] },
  ORG_ADMIN: { appliesTo: 'organization', rights: ['query', 'run', 'read', 'edit', 'decide', 'manage'] },
  OWNER: { appliesTo: 'organization', rights: ['query', 'run', 'read', 'edit', 'decide', 'manage', 'own'] },
} as const satisfies Record<string, RoleDefinition>;
export type MemberRole = keyof typeof roleTable;
export const memberRoles = Object.keys(roleTable) as [MemberRole, ...MemberRole[]];

/** A role that is not in the table comes from an external identity provider (specification, API keys 3). */
const unknownRole: RoleDefinition = { appliesTo: 'project', rights: ['query'] };

export const adminRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'] as const;
/** The roles that decide, in descending order. */
export const deciderRoles = [...adminRoles, 'APPROVER'] as const;
export type DeciderRole = (typeof deciderRoles)[number];

/** The roles of a person on one project. */
export interface Roles {
  /** The highest one. */
  role: string;
  /** All of them, in descending order. */
  roles: readonly string[];
}

/** What stores roles: memberships, tokens, callers. One role alone has no list. */
export interface StoredRoles {
  role: string;
  roles?: readonly string[];
}

/** The one way to read the roles of a record. */
export function rolesOf({ role, roles = [role] }: StoredRoles): readonly string[] {
  return roles;
}

/** Orders roles, without duplicates, in descending order. */
export function toRoles(given: readonly string[]): Roles {
  const roles = [...new Set(given)].sort((a, b) => rankOf(b) - rankOf(a));
  return { role: roles[0] ?? '', roles };
}

/** The fields of a record with these roles. One role alone needs no list. */
export function toStoredRoles(given: readonly string[]): StoredRoles {
  const { role, roles } = toRoles(given);
  return roles.length > 1 ? { role, roles } : { role };
}

export function haveSameRoles(one: StoredRoles, other: StoredRoles): boolean {
  return toRoles(rolesOf(one)).roles.join() === toRoles(rolesOf(other)).roles.join();
}

function definitionOf(role: string): RoleDefinition {
  return Object.hasOwn(roleTable, role) ? roleTable[role as MemberRole] : unknownRole;
}

/** The rights of a person with these roles: those of each of them. */
export function rightsOf(roles: readonly string[]): ReadonlySet<Right> {
  return new Set(roles.flatMap((role) => definitionOf(role).rights));
}

/** The grants of a person with these roles. */
export function grantsOfRoles(roles: readonly string[]): readonly Grant[] {
  const held = new Set([...rightsOf(roles)].flatMap((right): readonly Grant[] => rights[right].grants));
  return Grant.options.filter((grant) => held.has(grant));
}

/** Returns the rank of a role, or -1, below all others, for an unknown role. */
export function rankOf(role: string): number {
  return (memberRoles as readonly string[]).indexOf(role);
}

/** Returns what the runs and the background work of a person with these roles may do. */
export function grantsOfWork(roles: readonly string[]): readonly Grant[] {
  return grantsOfRoles(roles).filter((grant) => !isGovernanceGrant(grant));
}

export function isAdminRole(role: string): boolean {
  return (adminRoles as readonly string[]).includes(role);
}

/** Returns whether the role applies to every project of the organization. */
export function holdsEverywhere(role: string): boolean {
  return definitionOf(role).appliesTo === 'organization';
}

/**
 * Returns the grants that a person can give to keys and clients: those of the roles except the governance grants, for an
 * admin also `svc:codesync.write`, and for OWNER and ORG_ADMIN all (decision 0017).
 */
export function grantableGrants(roles: readonly string[]): readonly Grant[] {
  if (roles.some(holdsEverywhere)) return Grant.options;
  return [...grantsOfWork(roles), ...(roles.some(isAdminRole) ? (['svc:codesync.write'] as const) : [])];
}

/**
 * Returns the grants that a credential of this role lists if none are given explicitly (specification, API keys 3). People
 * have those of their roles in addition.
 */
export function defaultGrants(role: string): readonly Grant[] {
  if (!isAdminRole(role)) return rights.query.grants;
  return Grant.options.filter((grant) => !explicitGrants.includes(grant));
}
