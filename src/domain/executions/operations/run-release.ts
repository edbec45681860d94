import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import { canonicalText } from '../../../base/json.js';
import { pick } from '../../../base/pick.js';
import { requireInputs } from '../../agentflows/operations/schemas.js';
import type { Deps } from '../../deps.js';
import { resolveStart, startState, type StartChoice, type StartRequest } from '../../releases/operations/resolve.js';
import { NewExecution, prepareExecution } from './create.js';
import { execute } from './moves.js';

interface ReleaseRun extends StartChoice {
  agentflow_id: string;
  goal: string;
  input_variables: Record<string, unknown>;
  lifecycle_id: string;
  /** A repeat with the same id starts no second run. */
  execution_id: string;
  /** The `startState` that was approved; undefined without an approval. */
  bound?: unknown;
}

/**
 * Prepares and starts a run of a release, or of the draft if the caller asks for it.
 * @throws AppError as `resolveStart`, and `conflict` if the channel has moved since the approval
 */
export async function runRelease(
  deps: Deps,
  principal: Principal,
  { lifecycle_id, execution_id: id, bound, ...input }: ReleaseRun,
) {
  const { collections } = deps.mongo;
  const request = releaseRequest(input);
  if (bound !== undefined && canonicalText(bound) !== canonicalText(await startState(collections, principal, request)))
    throw new AppError('conflict', 'the release to run has changed after the run was approved');
  const runnable = await resolveStart(collections, principal, request, id);
  // Prepare nothing that cannot be started.
  await deps.temporal.ping();
  await prepareExecution(deps, principal, runnable, NewExecution.parse(input), { id, lifecycleId: lifecycle_id });
  const moved = await execute(deps, principal, id, id);
  return { ...moved, version: runnable.release?.version ?? null, draft: runnable.release === null };
}

/** Dry run of `runRelease`. */
export async function checkRelease(
  deps: Pick<Deps, 'mongo' | 'schemas'>,
  principal: Principal,
  { inputs, ...input }: StartChoice & { agentflow_id: string; inputs: Record<string, unknown> },
) {
  const { agentflow, release } = await resolveStart(deps.mongo.collections, principal, releaseRequest(input), '');
  await requireInputs(deps, agentflow, { input_variables: inputs });
  return { name: agentflow.name, version: release?.version ?? null };
}

/** Clients of `run-agent` expect 409 without a release (specification, status 409). */
export function releaseRequest({ agentflow_id, ...input }: StartChoice & { agentflow_id: string }): StartRequest {
  return { agentflowId: agentflow_id, beforeFirstRelease: 'is refused', ...pick(input, 'version', 'channel', 'draft') };
}
