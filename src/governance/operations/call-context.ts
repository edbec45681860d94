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
  /** Decides the call again, with facts that only the handler knows, such as the fields of a multipart body. */
  recheckPolicies: Recheck;
}

/** The context of a call that the kernel has not decided yet. */
export const undecided: Pick<CallContext, 'recheckPolicies'> = {
  recheckPolicies() {
    throw new Error('only a governed call can be decided again');
  },
};
