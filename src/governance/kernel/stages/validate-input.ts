import { payloadDigest } from '../../approvals/payload-digest.js';
import type { CheckedCall, ScopedCall } from '../call.js';

/** S4: the surface validates the input. */
export async function validateInput(_deps: unknown, call: ScopedCall): Promise<CheckedCall> {
  const checked = await call.validate(call.principal);
  return { ...call, checked, payloadDigest: digestOnce(call.name, checked.digested ?? checked.input) };
}

export function digestOnce(name: string, input: unknown, bound?: unknown): () => string {
  let digest: string | undefined;
  return () => (digest ??= payloadDigest(name, input, bound));
}
