import type { AuthenticatedCall, Call } from '../call.js';

/** S1: the surface verifies the credential. */
export async function authenticate(_deps: unknown, call: Call): Promise<AuthenticatedCall> {
  return { ...call, principal: await call.authenticate() };
}
