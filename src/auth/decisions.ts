import { AppError } from '../base/errors.js';
import { rolesOf, type Grant } from './grants.js';
import { holdsGrant, isPerson, type Permission, type Principal } from './principal.js';
import { requirePermission, whatIsMissing } from './require-grant.js';

/** What a person decides: whichever route, tool or page sends the decision. */
export type DecisionKind = 'preview' | 'memory' | 'elicitation' | 'question';

interface WhoMayDecide {
  /** What the decision is about, in the text of a refusal. */
  what: string;
  /** The grant that a program needs to decide. A person needs the right `decide`. */
  grant: Grant;
  /** Whether an API key with `svc:governance.write` may decide in place of a person. */
  acceptsKeys: boolean;
}

/**
 * Who may decide, by kind. A person may decide what they have asked for, unless a rule forbids it (`decides_own`). OAuth
 * clients and runs decide nothing. Approvals of calls and acts have their own rules (`governance/approvals/view.ts`).
 */
const table: Readonly<Record<DecisionKind, WhoMayDecide>> = {
  preview: { what: 'decides on a preview', grant: 'svc:orchestrate.write', acceptsKeys: true },
  memory: { what: 'reviews a memory', grant: 'svc:ontology.write', acceptsKeys: true },
  elicitation: { what: 'answers an MCP server', grant: 'svc:orchestrate.write', acceptsKeys: false },
  question: { what: 'answers a question', grant: 'svc:orchestrate.write', acceptsKeys: false },
};

/** The people behind the question that is decided. */
export interface Deciders {
  /** The people who asked for it, or caused it. A key that one of them created does not decide. */
  askers: readonly string[];
  /** The only person who may decide; undefined if others may. */
  owner?: string | undefined;
  /** Those who may decide, instead of everybody with the right to. */
  named?: { roles: readonly string[]; people: readonly string[] } | undefined;
}

/** Why the caller may not decide; null if they may. Views and decisions use the same rules. */
export function whyNotDecide(principal: Principal, kind: DecisionKind, deciders: Deciders): string | null {
  const { what, acceptsKeys } = table[kind];
  const { askers, owner, named } = deciders;
  const missing = whatIsMissing(principal, permissionToDecide(principal, kind, deciders));
  if (missing !== undefined) return `deciding needs ${missing}`;
  if (isPerson(principal) && named)
    return isNamed(principal, named) ? null : `only a person to whom it is addressed ${what}`;
  if (isPerson(principal))
    return owner === undefined || owner === principal.userId ? null : `only the person whose account is used ${what}`;
  if (!acceptsKeys) return `only a signed-in person ${what}`;
  if (principal.kind !== 'api_key' || !holdsGrant(principal, 'svc:governance.write'))
    return `only a signed-in person, or an API key with svc:governance.write, ${what}`;
  return askers.includes(principal.userId)
    ? `an API key of a person who asked for it or caused it does not decide: a signed-in person, or the key of somebody else, ${what}`
    : null;
}

function isNamed(principal: Principal, { roles, people }: NonNullable<Deciders['named']>): boolean {
  return people.includes(principal.userId) || rolesOf(principal).some((role) => roles.includes(role));
}

/** The right to start runs is enough for the owner of an account in their own run, and for people who are named. */
function permissionToDecide({ userId }: Principal, kind: DecisionKind, { owner, named }: Deciders): Permission {
  return { grant: table[kind].grant, right: owner === userId || named ? ['decide', 'run'] : ['decide'] };
}

/** @throws AppError `scope_denied` */
export function requireDecider(principal: Principal, kind: DecisionKind, deciders: Deciders): void {
  requirePermission(principal, permissionToDecide(principal, kind, deciders));
  const reason = whyNotDecide(principal, kind, deciders);
  if (reason !== null) throw new AppError('scope_denied', reason);
}

/** The fact `decides_own` for rules. */
export function decidesOwn({ userId }: Pick<Principal, 'userId'>, askers: readonly string[]) {
  return { decides_own: askers.includes(userId) };
}
