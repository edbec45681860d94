import { ApplicationFailure } from '@temporalio/common';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { approvalWorkflowId, decideUpdate, type DecideRequest } from '../../../workflows/approval/messages.js';
import { requireAdmin, type Principal } from '../../auth/principal.js';
import { AppError } from '../../errors.js';
import type { Collections } from '../../stores/collections.js';
import { isWorkflowGone, type Temporal } from '../../temporal/client.js';
import { findApproval } from './read.js';
import { approvalView, type Approval } from './record.js';

/**
 * Asks the workflow, which alone decides; answers the approval as it then is.
 * @throws AppError `S2:resolve-scope` without an administrator's role and for the requester, `not_found`, `conflict` when
 * it is no longer pending or this approver voted before, `unavailable` without Temporal or a worker
 */
export async function decideApproval(
  { collections, temporal }: { collections: Collections; temporal: Temporal },
  principal: Principal,
  id: string,
  vote: Pick<DecideRequest, 'decision'> & { comment?: string | undefined },
): Promise<Approval> {
  requireAdmin(principal);
  const record = await findApproval(collections, principal, id);
  if (record.requested_by === principal.userId) throw new AppError('S2:resolve-scope', 'nobody decides on their own request');
  if (record.status !== 'pending') throw conflict(record.status);
  const { decision, comment } = vote;
  const request: DecideRequest = {
    approver: { user_id: principal.userId, role: principal.role },
    decision,
    ...(comment === undefined ? {} : { comment }),
  };
  try {
    await temporal.callWorker((client) => client.workflow.getHandle(approvalWorkflowId(id)).executeUpdate(decideUpdate, { args: [request] }));
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refusalOf(error.cause);
    if (isWorkflowGone(error)) throw conflict((await findApproval(collections, principal, id)).status);
    throw error;
  }
  return approvalView(await findApproval(collections, principal, id));
}

function refusalOf(cause: Error | undefined): AppError {
  const denied = cause instanceof ApplicationFailure && cause.type === 'access_denied';
  return new AppError(denied ? 'S2:resolve-scope' : 'conflict', cause?.message ?? 'the approval refused the decision');
}

function conflict(status: string): AppError {
  return new AppError('conflict', status === 'pending' ? 'the approval can no longer be decided' : `the approval is ${status}`);
}
