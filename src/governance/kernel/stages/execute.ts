import { effectOf } from '../../operations/operation.js';
import type { PermittedCall } from '../call.js';
import type { KernelDeps } from '../kernel-deps.js';

/** S8: runs the operation. */
export async function execute({ changed }: Pick<KernelDeps, 'changed'>, call: PermittedCall): Promise<PermittedCall> {
  const { lifecycleId, recordId, bound, recheck } = call;
  const { body, consumed, madeId } = await call.checked.run({ lifecycleId, recordId, bound, recheck });
  const { resource, input } = call.checked;
  if (/^(write|data)$/.test(effectOf(call.operation, input))) changed(call.principal.projectId, call.operation.name);
  const checked = madeId === undefined ? call.checked : { ...call.checked, resource: { ...resource, id: madeId } };
  return { ...call, checked, ending: { status: 'completed', body, ...(consumed && { consumed }) } };
}
