import {
  cancelSignal,
  executionWorkflowId,
  pauseSignal,
  type MoveRequest,
} from '../../../../workflows/agentflow-execution/messages.js';
import { requireAuthority, type Owner } from '../../../auth/present-authority.js';
import type { Grant } from '../../../auth/grants.js';
import { AppError, isAppError } from '../../../base/errors.js';
import { withdrawApprovals, type WithdrawDeps } from '../../../governance/approvals/withdraw.js';
import type { Collections } from '../../../stores/collections.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { epochSeconds } from '../../../base/time.js';
import { readCustomer } from '../../customers/operations/account.js';
import type { ExecutionDocument } from '../record.js';

/** Why a run is held: its person has no role that permits it (docs/decisions/0018). */
export interface Hold {
  user_id: string;
  reason: string;
  at: number;
}

export interface HoldDeps extends WithdrawDeps {
  collections: Collections;
}

/** What a run needs from its person for each step. */
const grantsOfRuns: readonly Grant[] = ['svc:agent.run'];
/** Who holds a run, in its events. */
const byService = 'service';

export type RunOwner = Pick<ExecutionDocument, '_id' | 'projectID' | 'organization_id' | 'executed_by'>;

export function ownerOf({ projectID, organization_id, executed_by }: Omit<RunOwner, '_id'>): Owner {
  return { userId: executed_by._id, organizationId: organization_id, projectId: projectID };
}

/** Returns why the person of the run may not continue it; undefined if they may. */
export async function refusalToRun(collections: Collections, run: RunOwner): Promise<string | undefined> {
  try {
    await requireAuthority(collections, ownerOf(run), grantsOfRuns);
    return undefined;
  } catch (error) {
    if (isAppError(error) && error.code === 'no_authority') return error.message;
    throw error;
  }
}

/** @throws AppError `conflict` if the person of a held run still has no role that permits it */
export async function requireResumable(collections: Collections, run: RunOwner): Promise<void> {
  const reason = await refusalToRun(collections, run);
  if (reason !== undefined) throw new AppError('conflict', `the run stays paused: ${reason}`);
}

/**
 * Withdraws what the run has asked for and records that it is held. Safe to repeat.
 * @returns whether the organization wants such a run to be paused or to end
 */
export async function noteHold(
  { collections, temporal, audit }: HoldDeps,
  { _id, organization_id, executed_by }: RunOwner,
  reason: string,
): Promise<'hold' | 'end'> {
  const customer = await readCustomer(collections, organization_id);
  const choice = customer.runs_without_role ?? 'hold';
  const hold: Hold = { user_id: executed_by._id, reason, at: epochSeconds() };
  const { matchedCount } = await collections.executions.updateOne(
    { _id, 'execution_context.hold': null },
    { $set: { 'execution_context.hold': hold, changed_at: Date.now() } },
  );
  if (matchedCount === 1)
    await audit.append({
      ...{ organization_id, actor: 'service', lifecycle_id: null },
      action: choice === 'hold' ? 'execution.hold' : 'execution.end',
      resource: `execution:${_id}`,
      outcome: `completed: ${reason}`,
    });
  await withdrawApprovals({ collections, temporal, audit }, _id);
  return choice;
}

/** Pauses the run that divides its items among others, one of which is held. Its pause reaches the others. Safe to repeat. */
export async function holdDividedRun(deps: HoldDeps, root: string, reason: string): Promise<void> {
  const run = await deps.collections.executions.findOne(
    { _id: root, 'execution_context.hold': null },
    { projection: { projectID: 1, organization_id: 1, executed_by: 1 } },
  );
  // It has begun, even if its record does not show that yet.
  if (run) await holdRun(deps, { ...run, status: 'running' }, reason);
}

/** Records that a resumed run is no longer held. */
export async function clearHold({ executions }: Collections, id: string): Promise<void> {
  await executions.updateOne(
    { _id: id, 'execution_context.hold.at': { $gt: 0 } },
    { $set: { 'execution_context.hold': null } },
  );
}

/** Pauses or ends a run whose person has no role that permits it, even if the run waits. Safe to repeat. */
export async function holdRun(
  deps: HoldDeps,
  run: RunOwner & Pick<ExecutionDocument, 'status'>,
  reason: string,
): Promise<void> {
  const choice = await noteHold(deps, run, reason);
  if (choice === 'hold' && run.status !== 'running') return;
  const request: MoveRequest = { by: byService, reason };
  const signal = choice === 'hold' ? pauseSignal : cancelSignal;
  try {
    await deps.temporal.call((client) =>
      client.workflow.getHandle(executionWorkflowId(run._id)).signal(signal, request),
    );
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
  }
}
