import type { AuthenticatedCall } from '../call.js';

/** S3: the surface counts the call against its limits. */
export async function admit(_deps: unknown, call: AuthenticatedCall): Promise<AuthenticatedCall> {
  await call.admit(call.principal);
  return call;
}
