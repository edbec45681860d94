import type { Principal } from '../../auth/principal.js';
import type { Recheck } from './recheck.js';

/** What an operation receives in addition to the validated input. */
export interface CallContext {
  principal: Principal;
  /** The id of the call's record. */
  lifecycleId: string;
  /**
   * The id for a record that this call creates; the same again when the call is repeated, with its Idempotency-Key or
   * under the same approval.
   */
  recordId: string;
  idempotencyKey: string | undefined;
  /** The approval that permits the call, if it needed one. */
  approvalId?: string;
  /** The public address of this deployment, for links in answers. */
  baseUrl: string;
  /** The result of `boundState` for the approval under which the call runs; undefined if no approval was needed. */
  bound?: unknown;
  /** Aborted when the process stops; for a tool, also when its caller disconnects. */
  signal: AbortSignal;
  /** Decides the call again, with facts that only the handler knows, such as the fields of a multipart body. */
  recheckPolicies: Recheck;
  /** Notes for the record of the call which entities of the graph its answer contains. */
  noteConsumed(entityIds: readonly string[]): void;
}
