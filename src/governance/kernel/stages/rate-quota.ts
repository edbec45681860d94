import type { ScopedCall } from '../call.js';

/** S3: the surface counts the call against its limits. */
export async function admit(_deps: unknown, call: ScopedCall): Promise<ScopedCall> {
  await call.admit(call.principal);
  return call;
}
