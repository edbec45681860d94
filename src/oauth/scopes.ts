import { z } from 'zod';
import { grantableGrants } from '../auth/grants.js';

/** The advertised scopes (specification, OAuth 2.1), in the order in which a person is asked; each is a grant. */
export const Scope = z.enum([
  'svc:query.read',
  'svc:docs.read',
  'svc:ontology.write',
  'svc:orchestrate.read',
  'svc:orchestrate.write',
  'svc:agent.run',
  'svc:codesync.write',
]);
export type Scope = z.infer<typeof Scope>;

/** What a client gets that asks for nothing in particular: to look, and to change nothing. */
export const defaultScopes: readonly Scope[] = ['svc:query.read', 'svc:docs.read'];

/** What each scope lets a client do, for people who have never heard of scopes. */
export const scopeTexts: Record<Scope, { title: string; detail: string; changes: boolean }> = {
  'svc:query.read': { title: 'Search and read', detail: 'Find and read the entities, relationships and facts of the project.', changes: false },
  'svc:docs.read': { title: 'Read the documentation', detail: 'See how the project is structured, and its rules and limits.', changes: false },
  'svc:ontology.write': { title: 'Add and restructure knowledge', detail: 'Save entities, relationships and facts, and change their types.', changes: true },
  'svc:orchestrate.read': { title: 'See runs', detail: 'Follow what coworkers are doing and read their results.', changes: false },
  'svc:orchestrate.write': { title: 'Pause, resume and cancel runs', detail: 'Step in while coworkers are at work.', changes: true },
  'svc:agent.run': { title: 'Start coworkers', detail: 'Have coworkers act for you on connected systems; this uses credits.', changes: true },
  'svc:codesync.write': { title: 'Connect code repositories', detail: 'Choose whose changes are taken into the project.', changes: true },
};

/**
 * What a person may hand on. `svc:codesync.write` is in no role's default (specification, API keys 3), so nobody could
 * ever consent to it: administrators of the project may (docs/decisions).
 */
export function grantableScopes(role: string): readonly Scope[] {
  const own = grantableGrants(role);
  return Scope.options.filter((scope) => own.includes(scope));
}

/** The known ones of a space-separated list (RFC 6749, 3.3), each once and in our order; others are ignored. */
export function knownScopes(text: string): readonly Scope[] {
  const asked = text.split(' ');
  return Scope.options.filter((scope) => asked.includes(scope));
}
