import type { Principal } from '../../auth/principal.js';
import { newId } from '../../base/ids.js';
import type { Answer, Idempotency } from '../idempotency.js';
import type { AnyOperation } from '../operations/operation.js';
import { callOf, type Received, type Run } from './operation-call.js';
import type { Kernel, Performed } from './perform.js';

interface ReceivedOperation<Deps> extends Received<Deps> {
  operation: AnyOperation<Deps>;
  /** The validated key. @throws AppError `not_found` or `invalid_request` */
  key(): unknown;
  /** S4: reads and validates the input. Called once; earlier only if the operation depends on it. */
  read(principal: Principal): Promise<unknown>;
  /** Repeats with the same key and body get the first answer. `body` is read after S4. */
  repeatable?: { key: string; route: string; body(): unknown };
  run?: Run<Deps>;
}

/** The answer of a call that completed, was held, or was a dry run. Only a recorded call has a lifecycle id. */
export interface Outcome {
  lifecycleId?: string;
  /** Undefined for a call without credential. */
  principal?: Principal;
  held: boolean;
  value: unknown;
}

/** A refusal or failure, with the record of the call. */
export interface Refusal {
  lifecycleId?: string;
  error: unknown;
}

/** What the dependencies of an operation contain for its call. */
export interface KernelUser {
  kernel: Kernel;
  idempotency: Idempotency;
}

/** Performs an operation, from its credential to its answer, as one governed call. */
export async function performOperation<Deps extends KernelUser>(
  received: ReceivedOperation<Deps>,
): Promise<Outcome | Refusal> {
  const { operation, repeatable, run } = received;
  let recordId = newId();
  const call = callOf(received, operation.name, {
    findOperation: async () => ({ operation, key: async () => received.key() }),
    async read(principal) {
      const input = await received.read(principal);
      return { operation, key: received.key(), input };
    },
    run,
    recordId: () => recordId,
  });
  const admitted = await received.deps.kernel.admit(call);
  if ('refused' in admitted) return outcomeOf(admitted.refused);
  const { principal, complete } = admitted;
  if (!repeatable) return { ...outcomeOf(await complete()), principal };
  const request = { ...repeatable, principal, body: repeatable.body() };
  const outcome = await once(received.deps.idempotency, request, (reservedId) => {
    recordId = reservedId;
    return complete();
  });
  return { ...outcome, principal };
}

export function outcomeOf(performed: Performed): Outcome | Refusal {
  const { lifecycleId } = performed;
  const id = lifecycleId === undefined ? {} : { lifecycleId };
  if ('error' in performed) return { ...id, error: performed.error };
  const { status, body } = performed.ending;
  const held = status === 'pending_approval';
  return { ...id, held, value: held ? { lifecycle_id: lifecycleId, ...(body as object) } : body };
}

/** Completes a call once for its key. A refusal is not stored, and a held call releases the key. */
async function once(
  idempotency: Idempotency,
  request: Parameters<Idempotency['once']>[0],
  complete: (recordId: string) => Promise<Performed>,
): Promise<Outcome | Refusal> {
  let refusal: Refusal | undefined;
  try {
    const {
      lifecycleId,
      held = false,
      value,
    } = await idempotency.once(request, async (recordId): Promise<Answer> => {
      const outcome = outcomeOf(await complete(recordId));
      if ('error' in outcome) {
        refusal = outcome;
        throw outcome.error;
      }
      const { held: isHeld, ...answer } = outcome;
      return { ...answer, ...(isHeld && { held: true }) };
    });
    return { ...(lifecycleId !== undefined && { lifecycleId }), held, value };
  } catch (error) {
    return refusal ?? { error };
  }
}
