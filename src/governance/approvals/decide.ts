import { ApplicationFailure } from '@temporalio/common';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import {
  approvalWorkflowId,
  decideUpdate,
  decisionText,
  type DecideRequest,
} from '../../../workflows/approval/messages.js';
import type { Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { AppError } from '../../errors.js';
import { requireGrant } from '../../auth/require-grant.js';
import { newId } from '../../ids.js';
import type { Collections } from '../../stores/collections.js';
import { isWorkflowGone, type Temporal } from '../../temporal/client.js';
import { updateOnce } from '../../temporal/update-once.js';
import { findApproval } from './read.js';
import { isApprover, toApproval, type Approval } from './record.js';

/** The purpose of the key that signs decisions. */
export const decisionPurpose = 'approval decision';

/**
 * Sends a vote to the approval's workflow, which makes the decision, and returns the updated approval. Votes with the
 * same `updateId` count once.
 * @throws AppError `scope_denied` without `svc:governance.write`, for the requester, and without a role that the rules
 * name; `not_found`; `conflict` if the approval is no longer pending or this approver has voted before; `unavailable`
 * without Temporal or a worker
 */
export async function decideApproval(
  {
    collections,
    temporal,
    secrets,
  }: { collections: Collections; temporal: Temporal; secrets: Pick<SecretBox, 'sign'> },
  principal: Principal,
  id: string,
  vote: Pick<DecideRequest, 'decision'> & { comment?: string | undefined },
  updateId?: string,
): Promise<Approval> {
  requireGrant(principal, 'svc:governance.write');
  const record = await findApproval(collections, principal, id);
  if (record.requested_by === principal.userId && record.starter_may_decide !== true)
    throw new AppError('scope_denied', 'nobody decides on their own request');
  if (!isApprover(principal, record)) {
    const roles = record.approver_roles?.join(' or ');
    throw new AppError('scope_denied', `only a person with the role ${roles} in this project decides`);
  }
  if (record.status !== 'pending' && updateId === undefined) throw conflict(record.status);
  const { decision, comment } = vote;
  const unsigned: DecideRequest = {
    approver: { user_id: principal.userId, role: principal.role },
    decision,
    ...(comment === undefined ? {} : { comment }),
  };
  const request: DecideRequest = { ...unsigned, signature: secrets.sign(decisionText(id, unsigned), decisionPurpose) };
  try {
    await updateOnce(temporal, approvalWorkflowId(id), decideUpdate, {
      args: [request],
      updateId: updateId ?? newId(),
    });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refusalOf(error.cause);
    if (isWorkflowGone(error)) throw conflict((await findApproval(collections, principal, id)).status);
    throw error;
  }
  const decided = await findApproval(collections, principal, id);
  return toApproval(decided, decided.status === 'pending');
}

function refusalOf(cause: Error | undefined): AppError {
  const denied = cause instanceof ApplicationFailure && cause.type === 'access_denied';
  return new AppError(denied ? 'scope_denied' : 'conflict', cause?.message ?? 'the approval refused the decision');
}

function conflict(status: string): AppError {
  return new AppError(
    'conflict',
    status === 'pending' ? 'the approval can no longer be decided' : `the approval is ${status}`,
  );
}
