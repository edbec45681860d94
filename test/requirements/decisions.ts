import type { Requirement } from './requirement.js';

/** Decisions that are meant for people. */
export const decisions = [
  {
    id: 'decisions.people',
    source: 'docs/decisions/0022-who-decides.md',
    says: 'Previews, reviews of memories and questions are decided by people, or by keys with svc:governance.write of somebody else; never by OAuth clients or runs.',
  },
  {
    id: 'decisions.own-by-rule',
    source: 'docs/decisions/0022-who-decides.md',
    says: 'A rule on the fact decides_own can forbid people to decide what they asked for.',
  },
  {
    id: 'mcp-oauth.own-runs',
    source: 'docs/decisions/0038-accounts-at-mcp-servers.md',
    says: 'A personal account at an MCP server serves only runs that its owner alone caused.',
  },
  {
    id: 'mcp-oauth.agreements',
    source: 'docs/decisions/0038-accounts-at-mcp-servers.md',
    says: 'The owner of a personal account can agree that their own runs of exactly one content use it, although others changed that content; every change ends the agreement.',
  },
] as const satisfies readonly Requirement[];
