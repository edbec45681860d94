import { passesAdminOnly, requireAdmin, type Principal } from '../../../auth/principal.js';
import { requirePermission } from '../../../auth/require-grant.js';
import { permissionOf, type Operation } from '../../operations/operation.js';
import type { AuthenticatedCall, ScopedCall } from '../call.js';
import { checksAt } from '../entrances.js';
import type { KernelDeps } from '../kernel-deps.js';

/**
 * S2: determines organization, project and role, and requires the grant and the role of the operation. The record of the
 * call belongs to this project.
 */
export async function resolveScope(
  { requestLimit }: Pick<KernelDeps, 'requestLimit'>,
  call: AuthenticatedCall,
): Promise<ScopedCall> {
  const principal = await call.resolveScope(call.principal);
  try {
    return { ...call, principal, operation: await permittedOperation(call, principal) };
  } catch (refused) {
    // A request that is refused here counts as well. Otherwise a credential without the grant could send any number.
    if (checksAt(call.entrance).limit === 'requests') await requestLimit.admit(principal);
    throw refused;
  }
}

/** The operation whose rules judge the call. @throws AppError `scope_denied` */
async function permittedOperation(call: AuthenticatedCall, principal: Principal): Promise<Operation> {
  const performed = await call.operationOf();
  requirePermissionFor(principal, performed);
  const judged = (await call.judgedAs?.()) ?? performed;
  if (judged !== performed) requirePermissionFor(principal, judged);
  return judged;
}

/** @throws AppError `scope_denied` */
export function requirePermissionFor(principal: Principal, operation: Operation): void {
  requirePermission(principal, permissionOf(operation));
  if (!passesAdminOnly(principal, operation)) requireAdmin(principal);
}
