import { requireAdmin, type Principal } from '../../auth/principal.js';
import { AppError } from '../../errors.js';
import type { ReceivedCall, ScopedCall } from '../call.js';
import type { GatewayDeps } from '../gateway-deps.js';

/**
 * S2: organization, project and role are resolved.
 * - the workspace header names a project that the credential reaches, and the path no other
 * - the tool's grant is held, and an admin role where the tool asks for one
 */
export async function resolveScope(
  deps: GatewayDeps,
  call: ReceivedCall,
  authenticated: Principal,
  lifecycleId: string,
): Promise<ScopedCall> {
  const principal = await deps.resolveScope(authenticated, call.workspace);
  const { tool, params } = call;
  const { projectId: inPath = principal.projectId } = params;
  if (inPath !== principal.projectId) {
    throw new AppError('S2:resolve-scope', 'the path names another project than the credential and the workspace header');
  }
  const grant = typeof tool.grant === 'function' ? tool.grant(call.input) : tool.grant;
  if (!principal.grants.includes(grant)) throw new AppError('S2:resolve-scope', `this call needs the grant ${grant}`);
  if (tool.adminOnly) requireAdmin(principal);
  const { projectId, organizationId, executionId } = principal;
  const ctx = { principal, projectId, organizationId, lifecycleId, executionId, traceId: call.trace.traceId, signal: call.signal };
  return { ...call, principal, ctx };
}
