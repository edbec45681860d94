import { payloadDigest } from '../../approvals/payload-digest.js';
import { causedBy } from '../../operations/operation.js';
import type { CheckedCall, ScopedCall } from '../call.js';
import { requirePermissionFor } from './resolve-scope.js';

/** S4: validates the input, and requires the grants and roles of everything that the call with this input causes. */
export async function validateInput(_deps: unknown, call: ScopedCall): Promise<CheckedCall> {
  const { operation, principal } = call;
  const checked = await call.validate(principal);
  const subjectRecord = operation.causes && (await checked.subject?.());
  const caused = causedBy(operation, checked.input, subjectRecord);
  for (const each of caused) requirePermissionFor(principal, each.operation);
  const digest = digestOnce(call.name, checked.digested ?? checked.input);
  return { ...call, checked, caused, subjectRecord, payloadDigest: digest };
}

export function digestOnce(name: string, input: unknown, bound?: unknown): () => string {
  let digest: string | undefined;
  return () => (digest ??= payloadDigest(name, input, bound));
}
