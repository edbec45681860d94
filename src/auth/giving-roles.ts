import { grantsOfRoles, holdsEverywhere, rightsOf, rolesOf } from './grants.js';
import { heldGrants, isPerson, permits, type Principal } from './principal.js';

/**
 * Why the caller may neither give nor take the role; undefined if it may. Nobody gives what they do not have: each right
 * and each grant of the role, and every project for a role that applies to all of them.
 */
export function whyNotGive(giver: Principal, role: string): string | undefined {
  const own = rolesOf(giver);
  const ownRights = rightsOf(own);
  const isHigher =
    [...rightsOf([role])].some((right) => !ownRights.has(right)) ||
    (holdsEverywhere(role) && !own.some(holdsEverywhere));
  if (isHigher) return 'is higher than the role of the caller';
  if (holdsEverywhere(role) && !isPerson(giver))
    return 'applies to all projects: only a user with a user token or a session can grant or revoke it';
  const held = heldGrants(giver);
  const missing = grantsOfRoles([role]).find((grant) => !held.includes(grant));
  if (missing !== undefined) return `includes the grant ${missing}, which the credential does not have`;
  const mayDecide = permits(giver, { grant: 'svc:governance.write', right: ['decide'] });
  if (rightsOf([role]).has('decide') && !mayDecide)
    return 'decides approvals, which the credential may not: it needs svc:governance.write';
  return undefined;
}
