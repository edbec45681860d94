import { undecided } from '../../operations/recheck.js';
import type { PermittedCall } from '../call.js';
import type { KernelDeps } from '../kernel-deps.js';

/** S8: runs the operation. */
export async function execute({ changed }: Pick<KernelDeps, 'changed'>, call: PermittedCall): Promise<PermittedCall> {
  const { lifecycleId, recordId, approvalId, bound, recheck = undecided } = call;
  const attempt = { lifecycleId, recordId, approvalId, bound, recheck };
  const { body, consumed, madeId, outcome } = await call.checked.run(attempt);
  const { resource } = call.checked;
  const { effect } = call.operation;
  if (effect === 'write' || effect === 'data') changed(call.principal.projectId, call.operation.name);
  const checked = madeId === undefined ? call.checked : { ...call.checked, resource: { ...resource, id: madeId } };
  const facts = { ...(consumed && { consumed }), ...(outcome !== undefined && { outcome }) };
  return { ...call, checked, ending: { status: 'completed', body, ...facts } };
}
