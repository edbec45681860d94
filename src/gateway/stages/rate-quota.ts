import { AppError } from '../../errors.js';
import type { ScopedCall } from '../call.js';
import type { GatewayDeps } from '../gateway-deps.js';

/** S3: the sliding windows of project and organization; a refused call does not count. */
export async function admit(deps: GatewayDeps, call: ScopedCall): Promise<void> {
  const { projectId, organizationId } = call.ctx;
  const admission = await deps.quota.admit({ projectId, organizationId });
  deps.metrics.admission(admission.admitted ? 'admitted' : 'refused', admission.admitted ? 'none' : admission.scope);
  if (admission.admitted) return;
  const seconds = admission.retryAfterSeconds;
  const whose = admission.scope === 'project' ? `project ${projectId}` : `the organization of project ${projectId}`;
  throw new AppError('S3:rate-quota', `the request quota of ${whose} is used up; retry in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
