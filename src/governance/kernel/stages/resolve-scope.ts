import { passesAdminOnly, requireAdmin, type Principal } from '../../../auth/principal.js';
import { requirePermission } from '../../../auth/require-grant.js';
import { causedBy, permissionOf, type Operation } from '../../operations/operation.js';
import type { AuthenticatedCall, ScopedCall } from '../call.js';

/**
 * S2: determines organization, project and role, and requires the grant and the role of the operation and of everything
 * that the call causes, on every surface. The record of the call belongs to this project.
 */
export async function resolveScope(_deps: unknown, call: AuthenticatedCall): Promise<ScopedCall> {
  const { operation, rawInput } = call;
  const principal = await call.resolveScope(call.principal);
  requirePermissionFor(principal, operation, rawInput);
  const subjectRecord = operation.causes && (await call.subject?.(principal));
  const caused = causedBy(operation, rawInput, subjectRecord);
  for (const each of caused) requirePermissionFor(principal, each.operation, each.input);
  return { ...call, principal, caused, subjectRecord };
}

/** @throws AppError `scope_denied` */
export function requirePermissionFor(principal: Principal, operation: Operation, rawInput: unknown): void {
  requirePermission(principal, permissionOf(operation, rawInput));
  if (!passesAdminOnly(principal, operation)) requireAdmin(principal);
}
