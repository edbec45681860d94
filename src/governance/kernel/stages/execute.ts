import type { PermittedCall } from '../call.js';

/** S8: the operation is carried out. */
export async function execute(_deps: unknown, call: PermittedCall): Promise<PermittedCall> {
  const { lifecycleId, recordId, bound } = call;
  const { body, consumed, madeId } = await call.checked.run({ lifecycleId, recordId, bound });
  const { resource } = call.checked;
  const checked = madeId === undefined ? call.checked : { ...call.checked, resource: { ...resource, id: madeId } };
  return { ...call, checked, ending: { status: 'completed', body, ...(consumed && { consumed }) } };
}
