import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import type { Deps } from '../../deps.js';
import { readPromoted } from '../../agentflows/operations/promote.js';
import { NewExecution, prepareExecution } from './create.js';
import { execute } from './moves.js';

interface PromotedRun {
  agentflow_id: string;
  goal: string;
  input_variables: Record<string, unknown>;
  lifecycle_id: string;
  /** A repeat with the same id starts no second run. */
  execution_id: string;
  /** The version to run. Defaults to the promoted version. */
  version?: number | undefined;
}

/**
 * Prepares and starts a run of the agentflow's promoted version.
 * @throws AppError `conflict` if no version is promoted, or if the promoted version is not `version`
 */
export async function runPromoted(
  deps: Deps,
  principal: Principal,
  { lifecycle_id, execution_id: id, version, ...input }: PromotedRun,
) {
  const promoted = await readPromoted(deps.mongo.collections, principal, input.agentflow_id);
  if (version !== undefined && version !== promoted.version) {
    throw new AppError(
      'conflict',
      `version ${promoted.version} of the agentflow was promoted after version ${version} was approved`,
    );
  }
  // Prepare nothing that cannot be started.
  await deps.temporal.ping();
  await prepareExecution(deps, principal, promoted.agentflow, NewExecution.parse(input), {
    id,
    lifecycleId: lifecycle_id,
    version: promoted.version,
    causedBy: [promoted.promoted_by],
  });
  return execute(deps, principal, id, id);
}

/** Dry run of `runPromoted`. */
export async function checkPromoted({ mongo }: Pick<Deps, 'mongo'>, principal: Principal, agentflowId: string) {
  const { version, agentflow } = await readPromoted(mongo.collections, principal, agentflowId);
  return { version, name: agentflow.name };
}
