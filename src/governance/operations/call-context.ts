import type { Principal } from '../../auth/principal.js';
import type { Recheck } from './recheck.js';

/** What an operation receives in addition to the validated input. */
export interface CallContext<P extends Principal | undefined = Principal> {
  principal: P;
  /** The id of the record that this call creates; the same again when the call is repeated. */
  recordId: string;
  idempotencyKey: string | undefined;
  /** The public address of this deployment, for links in answers. */
  baseUrl: string;
  /** Decides the call again with other facts. Only a governed call has it. */
  recheckPolicies?: Recheck;
}
