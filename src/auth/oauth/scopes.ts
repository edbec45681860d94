import { z } from 'zod';
import { clientGrants, grantableGrants, rolesOf } from '../grants.js';
import type { Principal } from '../principal.js';

/** The advertised scopes. Each one is a grant. */
export const Scope = z.enum(clientGrants);
export type Scope = z.infer<typeof Scope>;

/** The scopes of a client that requests none: read access only. */
export const defaultScopes: readonly Scope[] = ['svc:query.read', 'svc:docs.read'];

/** What each scope allows, in words for people who do not know OAuth. */
export const scopeTexts: Record<Scope, { title: string; detail: string; changes: boolean }> = {
  'svc:query.read': {
    title: 'Search and read',
    detail: 'Find and read the entities, relationships and facts of the project.',
    changes: false,
  },
  'svc:docs.read': {
    title: 'Read the documentation',
    detail:
      'See the structure, rules and limits of the project, and the records of all calls that people and programs make in it.',
    changes: false,
  },
  'svc:ontology.write': {
    title: 'Add and restructure knowledge',
    detail:
      'Save entities, relationships and facts, and change their types. Reviews of remembered texts stay with people.',
    changes: true,
  },
  'svc:orchestrate.read': {
    title: 'See runs',
    detail: 'Follow what coworkers are doing and read their results.',
    changes: false,
  },
  'svc:orchestrate.write': {
    title: 'Pause, resume and cancel runs',
    detail: 'Control coworkers while they are running. Decisions that wait for a person stay with people.',
    changes: true,
  },
  'svc:agent.run': {
    title: 'Start coworkers',
    detail: 'Have coworkers act for you on connected systems; this uses credits.',
    changes: true,
  },
  'svc:codesync.write': {
    title: 'Connect code repositories',
    detail: 'Choose the repositories whose changes the project receives.',
    changes: true,
  },
};

/**
 * Returns the scopes that a person can give to a client. No role has `svc:codesync.write` by default (specification,
 * API keys 3), but project admins may give it (decision 0017).
 */
export function grantableScopes(roles: readonly string[]): readonly Scope[] {
  const own = grantableGrants(roles);
  return Scope.options.filter((scope) => own.includes(scope));
}

/**
 * Returns the known scopes of a space-separated list (RFC 6749, 3.3), without duplicates and in the order of `Scope`.
 * Ignores other scopes.
 */
export function knownScopes(text: string): readonly Scope[] {
  const requested = text.split(' ');
  return Scope.options.filter((scope) => requested.includes(scope));
}

/**
 * Returns an OAuth client with all scopes that its person could still give it. Lists for clients show what these scopes
 * permit: a client asks for a missing scope when it calls (MCP authorization, step-up). Other callers stay as they are.
 */
export function withScopesInReach(principal: Principal): Principal {
  const { clientId, grants } = principal;
  if (clientId === undefined) return principal;
  const inReach = grantableScopes(rolesOf(principal));
  return { ...principal, grants: [...grants, ...inReach.filter((scope) => !grants.includes(scope))] };
}
