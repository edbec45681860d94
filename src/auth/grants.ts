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

const adminGrants: readonly Grant[] = [
  'svc:query.read',
  'svc:docs.read',
  'svc:ontology.write',
  'svc:orchestrate.read',
  'svc:orchestrate.write',
  'svc:agent.run',
  'svc:skill.write',
  'svc:model.write',
];
const readerGrants: readonly Grant[] = ['svc:query.read', 'svc:docs.read'];

export function isAdminRole(role: string): boolean {
  return (adminRoles as readonly string[]).includes(role);
}

/** The grants of a role that were not given explicitly (specification, API keys 3: eight against two). */
export function defaultGrants(role: string): readonly Grant[] {
  return isAdminRole(role) ? adminGrants : readerGrants;
}
