import { z } from 'zod';

/** Every grant of the product (specification, API keys 3; OAuth 2.1: `codesync.write`). */
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
]);
export type Grant = z.infer<typeof Grant>;

export const adminRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'] as const;

const adminGrants: readonly Grant[] = Grant.options.filter((grant) => grant !== 'svc:codesync.write');
const readerGrants: readonly Grant[] = ['svc:query.read', 'svc:docs.read'];

export function isAdminRole(role: string): boolean {
  return (adminRoles as readonly string[]).includes(role);
}

/**
 * What a role may hand on explicitly: its defaults, and for an admin `svc:codesync.write` as well, which is in no default
 * and could otherwise be given by nobody (docs/decisions).
 */
export function grantableGrants(role: string): readonly Grant[] {
  return isAdminRole(role) ? [...adminGrants, 'svc:codesync.write'] : readerGrants;
}

/** The grants of a role that were not given explicitly (specification, API keys 3: eight against two). */
export function defaultGrants(role: string): readonly Grant[] {
  return isAdminRole(role) ? adminGrants : readerGrants;
}
