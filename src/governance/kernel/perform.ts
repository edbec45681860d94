import { isAppError, isRefusal } from '../../base/errors.js';
import { factsOfRefusal, type Call, type Ending, type PartialCall, type Stage } from './call.js';
import type { KernelDeps } from './kernel-deps.js';
import { createRecording } from './recording.js';
import type { StageId } from './stage-ids.js';
import { holdOrResume } from './stages/approval.js';
import { authenticate } from './stages/authenticate.js';
import { dryRun } from './stages/dry-run.js';
import { execute } from './stages/execute.js';
import { applyPolicies } from './stages/policy.js';
import { admit } from './stages/rate-quota.js';
import { resolveScope } from './stages/resolve-scope.js';
import { validateInput } from './stages/validate-input.js';

/** The answer of a call, or its error with the stage that threw it. Only a recorded call has a lifecycle id. */
export type Performed = { lifecycleId?: string } & ({ ending: Ending } | { error: unknown; stage: StageId });

export type Kernel = ReturnType<typeof createKernel>;

/** Every operation passes these stages in this order (specification, Governed pipeline). */
const stages = inOrder(
  ['S1:authenticate', authenticate],
  ['S2:resolve-scope', resolveScope],
  ['S3:rate-quota', admit],
  ['S4:validate-input', validateInput],
  ['S5:policy', applyPolicies],
  ['S6:approval', holdOrResume],
  ['S7:dry-run', dryRun],
  ['S8:execute', execute],
);

export function createKernel(deps: KernelDeps) {
  return {
    /**
     * Runs an operation of any surface through S1 to S8, and stores its record before it returns.
     * @throws only if the record cannot be stored; the call must not be answered then
     */
    perform: (call: Call): Promise<Performed> => perform(deps, call),
  };
}

async function perform(deps: KernelDeps, received: Call): Promise<Performed> {
  const recording = createRecording(deps, received);
  let call: PartialCall = received;
  let currentStage: StageId = 'S1:authenticate';
  try {
    for (const [stage, step] of stages) {
      currentStage = stage;
      await recording.before(stage, call);
      const { note = '', ...next } = await deps.observeStage(call.name, stage, () => step(deps, call));
      call = next;
      recording.note(stage, 'ok', note);
      if (call.ending) break;
    }
  } catch (error) {
    const facts = factsOfRefusal(error);
    call = facts?.call ?? call;
    recording.note(currentStage, 'failed', isAppError(error) ? error.message : 'failed');
    const status = isRefusal(error) ? 'denied' : 'failed';
    return { ...(await recording.finish(call, status, facts?.reason)), error, stage: currentStage };
  }
  if (!call.ending) throw new Error('the stages did not end the call');
  return { ...(await recording.finish(call, call.ending.status)), ending: call.ending };
}

type Entry<In, Out> = readonly [StageId, Stage<In, Out, KernelDeps>];
type AnyEntry = Entry<PartialCall, PartialCall>;

/** Checks at compile time that each stage accepts the result of the previous one, so that the loop needs no types. */
function inOrder<A, B, C, D, E, F, G, H>(
  ...list: [Entry<Call, A>, Entry<A, B>, Entry<B, C>, Entry<C, D>, Entry<D, E>, Entry<E, F>, Entry<F, G>, Entry<G, H>]
): readonly AnyEntry[] {
  return list as unknown as readonly AnyEntry[];
}
