import { requireAdmin } from '../../../auth/principal.js';
import { requireGrant } from '../../../auth/require-grant.js';
import { grantOf } from '../../operations/operation.js';
import type { AuthenticatedCall } from '../call.js';

/**
 * S2: determines organization, project and role, and requires the grant and the role of the operation, on every
 * surface. The record of the call belongs to this project.
 */
export async function resolveScope(_deps: unknown, call: AuthenticatedCall): Promise<AuthenticatedCall> {
  const principal = await call.resolveScope(call.principal);
  const grant = grantOf(call.operation, call.rawInput);
  if (grant !== 'any') requireGrant(principal, grant);
  if (call.operation.adminOnly) requireAdmin(principal);
  return { ...call, principal };
}
