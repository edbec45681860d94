import { requireAdmin } from '../../../auth/principal.js';
import { requireGrant } from '../../../auth/require-grant.js';
import { grantOf } from '../../operations/operation.js';
import type { AuthenticatedCall } from '../call.js';

/**
 * S2: organization, project and role are settled, and the caller holds the grant and the role of the operation, whichever
 * surface the call comes from. From here on the call has a project to be recorded in.
 */
export async function resolveScope(_deps: unknown, call: AuthenticatedCall): Promise<AuthenticatedCall> {
  const principal = await call.resolveScope(call.principal);
  const grant = grantOf(call.operation, call.asked);
  if (grant !== 'any') requireGrant(principal, grant);
  if (call.operation.adminOnly) requireAdmin(principal);
  return { ...call, principal };
}
