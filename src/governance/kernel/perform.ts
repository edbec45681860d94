import { isAppError, isRefusal } from '../../errors.js';
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

/** How a call ended, or its error and the stage that met it. The lifecycle id is there only for a call that was recorded. */
export type Performed = { lifecycleId?: string } & ({ ending: Ending } | { error: unknown; stage: StageId });

export interface Kernel {
  /**
   * Runs one operation through S1 to S8, whichever surface it came from, and stores what it did before it answers.
   * @throws only where the record cannot be stored: the call must then not be answered
   */
  perform(call: Call): Promise<Performed>;
}

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

export function createKernel(deps: KernelDeps): Kernel {
  return { perform: (call) => perform(deps, call) };
}

async function perform({ policies, ...others }: KernelDeps, given: Call): Promise<Performed> {
  const deps = { ...others, policies: readEarly(policies, given.likelyOrganizationId) };
  const recording = createRecording(deps, given);
  let call: PartialCall = given;
  let at: StageId = 'S1:authenticate';
  try {
    for (const [stage, step] of stages) {
      at = stage;
      await recording.before(stage, call);
      const { note = '', ...next } = await deps.observeStage(call.name, stage, () => step(deps, call));
      call = next;
      recording.passed(stage, note);
      if (call.ending) break;
    }
  } catch (error) {
    const facts = factsOfRefusal(error);
    call = facts?.call ?? call;
    recording.failed(at, isAppError(error) ? error.message : 'failed');
    const status = isRefusal(error) ? 'denied' : 'failed';
    return { ...(await recording.finish(call, status, facts?.reason)), error, stage: at };
  }
  if (!call.ending) throw new Error('the stages did not end the call');
  return { ...(await recording.finish(call, call.ending.status)), ending: call.ending };
}

/** After this time, S5 reads the policies again, because S4 may have taken long. */
const maxEarlyMs = 1000;

/** Starts to read the policies when the call arrives, so that S5 need not wait for another round trip. */
function readEarly(policies: KernelDeps['policies'], organizationId: string | undefined): KernelDeps['policies'] {
  if (organizationId === undefined) return policies;
  const begun = performance.now();
  const early = policies.inForce(organizationId);
  early.catch(() => undefined);
  return {
    ...policies,
    inForce: (id) => (id === organizationId && performance.now() - begun < maxEarlyMs ? early : policies.inForce(id)),
  };
}

type Entry<In, Out> = readonly [StageId, Stage<In, Out, KernelDeps>];
type AnyEntry = Entry<PartialCall, PartialCall>;

/** Checks that each stage takes what the one before it gives; the loop over the list then need not know the types. */
function inOrder<A, B, C, D, E, F, G, H>(
  ...list: [Entry<Call, A>, Entry<A, B>, Entry<B, C>, Entry<C, D>, Entry<D, E>, Entry<E, F>, Entry<F, G>, Entry<G, H>]
): readonly AnyEntry[] {
  return list as unknown as readonly AnyEntry[];
}
