import type { Principal } from '../../auth/principal.js';
import type { ReceivedCall } from '../call.js';
import type { GatewayDeps } from '../gateway-deps.js';

/** S1: the credential is verified; its project is the call's until S2 knows better. */
export function authenticate(deps: GatewayDeps, call: ReceivedCall): Promise<Principal> {
  return deps.authenticate(call.authorization);
}
