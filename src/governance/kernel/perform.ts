import { isAppError, isRefusal } from '../../base/errors.js';
import type { ObserveStage } from '../../observability/stages.js';
import { factsOfRefusal, type Call, type CheckedCall, type Ending, type PartialCall, type Stage } from './call.js';
import { checksAt } from './entrances.js';
import type { KernelDeps } from './kernel-deps.js';
import { createRecording } from './recording.js';
import type { StageId } from './stage-ids.js';
import { holdOrResume } from './stages/approval.js';
import { authenticate } from './stages/authenticate.js';
import { dryRun } from './stages/dry-run.js';
import { execute } from './stages/execute.js';
import { applyPolicies } from './stages/policy.js';
import { limit } from './stages/rate-quota.js';
import { resolveScope } from './stages/resolve-scope.js';
import { validateInput } from './stages/validate-input.js';

/** The answer of a call, or its error with the stage that threw it. Only a recorded call has a lifecycle id. */
export type Performed = { lifecycleId?: string } & ({ ending: Ending } | { error: unknown; stage: StageId });

/** A call that has passed S1 to S4, or the refusal of one of these stages. */
export type Admitted = { refused: Performed } | { principal: CheckedCall['principal']; complete(): Promise<Performed> };

export type Kernel = ReturnType<typeof createKernel>;

/** Every call passes these stages in this order (docs/specification.md, "Governed calls"). */
const admission = inOrder(
  ['S1:authenticate', authenticate],
  ['S2:resolve-scope', resolveScope],
  ['S3:rate-quota', limit],
  ['S4:validate-input', validateInput],
);
const decision = inOrder(
  ['S5:policy', applyPolicies],
  ['S6:approval', holdOrResume],
  ['S7:dry-run', dryRun],
  ['S8:execute', execute],
);
/** What follows S4 for calls to which no policies apply. */
const execution: readonly AnyEntry[] = decision.filter(([stage]) => stage === 'S8:execute');

export function createKernel(deps: KernelDeps) {
  const kernel = {
    /**
     * Runs a call of any entrance through S1 to S8, and stores its record before it returns.
     * @throws only if the record cannot be stored; the call must not be answered then
     */
    async perform(call: Call): Promise<Performed> {
      const admitted = await kernel.admit(call);
      return 'refused' in admitted ? admitted.refused : admitted.complete();
    },
    /** Runs S1 to S4. `complete` runs the other stages, so that a repeated call can get its first answer instead. */
    async admit(received: Call): Promise<Admitted> {
      const passage = createPassage(deps, received);
      const refused = await passage.through(admission);
      if (refused) return { refused };
      const { principal } = passage.call();
      if (!principal) throw new Error('S1 did not set the principal');
      const { policies } = checksAt(received.entrance);
      return {
        principal,
        async complete() {
          const performed = await passage.through(policies ? decision : execution);
          if (!performed) throw new Error('the stages did not end the call');
          return performed;
        },
      };
    },
  };
  return kernel;
}

/** The way of one call through the stages. */
function createPassage(deps: KernelDeps, received: Call) {
  const recording = createRecording(deps, received);
  // The stages of reads that no policy judges take no time worth a series of metrics for each operation.
  const observe: ObserveStage = checksAt(received.entrance).policies
    ? deps.observeStage
    : (_name, _stage, work) => work();
  let call: PartialCall = received;
  return {
    call: () => call,
    /** Returns the outcome once a stage has ended the call. */
    async through(stages: readonly AnyEntry[]): Promise<Performed | undefined> {
      let currentStage: StageId | undefined;
      try {
        for (const [stage, step] of stages) {
          currentStage = stage;
          await recording.before(stage, call);
          const { note = '', ...next } = await observe(call.name, stage, () => step(deps, call));
          call = next;
          recording.note(stage, 'ok', note);
          if (call.ending) break;
        }
      } catch (error) {
        if (currentStage === undefined) throw error;
        const facts = factsOfRefusal(error);
        call = facts?.call ?? call;
        recording.note(currentStage, 'failed', isAppError(error) ? error.message : 'failed');
        const status = isRefusal(error) ? 'denied' : 'failed';
        return { ...(await recording.finish(call, status, facts?.reason)), error, stage: currentStage };
      }
      if (!call.ending) return undefined;
      return { ...(await recording.finish(call, call.ending.status)), ending: call.ending };
    },
  };
}

type Entry<In, Out> = readonly [StageId, Stage<In, Out, KernelDeps>];
type AnyEntry = Entry<PartialCall, PartialCall>;

/** Checks at compile time that each stage accepts the result of the previous one, so that the loop needs no types. */
function inOrder<A, B, C, D, E>(...list: [Entry<A, B>, Entry<B, C>, Entry<C, D>, Entry<D, E>]): readonly AnyEntry[] {
  return list as unknown as readonly AnyEntry[];
}
