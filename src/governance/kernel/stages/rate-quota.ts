import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import type { ScopedCall } from '../call.js';
import { checksAt } from '../entrances.js';
import type { KernelDeps } from '../kernel-deps.js';

type LimitDeps = Pick<KernelDeps, 'quota' | 'requestLimit' | 'countAdmission'>;

/** S3: counts the call against the limits of its entrance. */
export async function limit(deps: LimitDeps, call: ScopedCall): Promise<ScopedCall> {
  const kind = checksAt(call.entrance).limit;
  if (kind === 'quota') await countInWindows(deps, call.principal);
  if (kind === 'requests') await deps.requestLimit.admit(call.principal);
  return call;
}

/** The sliding windows of project and organization. A refused call does not count. */
async function countInWindows(
  { quota, countAdmission }: LimitDeps,
  { projectId, organizationId }: Principal,
): Promise<void> {
  const admission = await quota.admit({ projectId, organizationId });
  countAdmission(admission.admitted ? 'admitted' : 'refused', admission.admitted ? 'none' : admission.scope);
  if (admission.admitted) return;
  const seconds = admission.retryAfterSeconds;
  const subject = admission.scope === 'project' ? `project ${projectId}` : `the organization of project ${projectId}`;
  throw new AppError('quota_exceeded', `the request quota of ${subject} is used up; retry in ${seconds} s`, {
    retryAfterSeconds: seconds,
  });
}
