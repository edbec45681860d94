import { ApplicationFailure } from '@temporalio/common';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { approvalWorkflowId, decideUpdate, type DecideRequest } from '../../../workflows/approval/messages.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import { requirePermission } from '../../auth/require-grant.js';
import { newId } from '../../base/ids.js';
import type { Collections } from '../../stores/collections.js';
import { isWorkflowGone, type Temporal } from '../../temporal/client.js';
import { updateOnce } from '../../temporal/update-once.js';
import type { JsonObject } from '../../base/json.js';
import { editedInput, editsId, editsProblem, keepEdits, readEdits, type EditsDeps } from './edits.js';
import { payloadDigest } from './payload-digest.js';
import { findApproval } from './read.js';
import type { Approval, ApprovalDocument } from './record.js';
import { startApproval } from './request.js';
import { readOutlines, type PayloadDeps } from './payload.js';
import { rejectTerminated, type TerminatedDeps } from './terminated.js';
import { deciding, decidingRole, readerOf, refusalToDecide, toApproval, type Reader } from './view.js';

export interface Vote extends Pick<DecideRequest, 'decision'> {
  comment?: string | undefined;
  /** New values for fields of the act that is approved. */
  edits?: JsonObject | undefined;
  /** The digest of the call that the approver saw. */
  payload_digest?: string | undefined;
}

/**
 * Sends a vote to the approval's workflow, which makes the decision, and returns the updated approval. Votes with the
 * same `updateId` count once.
 * @throws AppError `scope_denied` without the right to decide, for the requester, and without a role that the rules
 * name; `not_found`; `conflict` if the approval is no longer pending, this approver has voted before, or the call was
 * edited since the approver saw it; `validation_failed` for edits that do not fit; `unavailable` without Temporal or a worker
 */
export async function decideApproval(
  deps: PayloadDeps & Pick<TerminatedDeps, 'audit'> & { collections: Collections; temporal: Temporal },
  principal: Principal,
  id: string,
  vote: Vote,
  updateId?: string,
  reader: Reader = readerOf(principal),
): Promise<Approval> {
  const { collections, temporal } = deps;
  requirePermission(principal, deciding);
  const record = await findApproval(collections, principal, id);
  const refusal = refusalToDecide(principal, record);
  // The workflow knows the votes exactly, and whether this one is a repeat of one that it has counted.
  if (refusal?.code === 'scope_denied') throw new AppError(refusal.code, refusal.message);
  if (record.status !== 'pending' && updateId === undefined) throw conflict(record.status);
  const { decision, comment } = vote;
  const seen = await readOutlines(deps, [record], principal.organizationId);
  requireDigest(toApproval(record, principal, seen.get(id), reader), vote);
  const digests = await digestsOf(deps, record, vote);
  const request: DecideRequest = {
    approver: { user_id: principal.userId, role: decidingRole(principal, record.approver_roles) ?? principal.role },
    decision,
    ...(comment === undefined ? {} : { comment }),
    ...digests,
  };
  try {
    await startApproval(temporal, record);
    await updateOnce(temporal, approvalWorkflowId(id), decideUpdate, {
      args: [request],
      updateId: updateId ?? newId(),
    });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refusalOf(error.cause);
    if (isWorkflowGone(error)) throw await conflictOfEnded(deps, principal, id);
    throw error;
  }
  const decided = await findApproval(collections, principal, id);
  const outlines = await readOutlines(deps, [decided], principal.organizationId);
  return toApproval(decided, principal, outlines.get(id), reader);
}

/** A person or program that does not see all of a call names the call that it approves. */
export function requireDigest(
  { payload_view }: Pick<Approval, 'payload_view'>,
  { decision, payload_digest }: Vote,
): void {
  if (decision !== 'approve' || payload_digest !== undefined) return;
  if (payload_view?.has_hidden === true || payload_view?.is_shortened === true)
    throw new AppError(
      'validation_failed',
      'payload_digest: required, because a part of this call is hidden or shortened for you: read the call, and send its digest',
    );
}

const placeholder = '[redacted:';

/** Who sees a redacted call could otherwise send the placeholder in place of the value. */
export function requireNoPlaceholder(edits: unknown): void {
  if (JSON.stringify(edits ?? null).includes(placeholder))
    throw new AppError('validation_failed', 'edits: contain the placeholder of a hidden part: send the value itself');
}

/** Keeps the edits before the decision is made, so that a decided edit is never lost. */
async function digestsOf(
  deps: EditsDeps,
  { _id, project_id, tool, payload_digest, edited_payload_digest, editable_fields }: ApprovalDocument,
  { decision, edits, payload_digest: seen }: Vote,
): Promise<Pick<DecideRequest, 'payload_digest' | 'edited_payload_digest'>> {
  if (edits === undefined) return seen === undefined ? {} : { payload_digest: seen };
  const problem =
    decision === 'approve' ? editsProblem(editable_fields, edits) : 'edits: only an approval can edit the call';
  requireNoPlaceholder(edits);
  if (problem !== undefined) throw new AppError('validation_failed', problem);
  const before = await readEdits(deps, edited_payload_digest === undefined ? _id : editsId(_id, edited_payload_digest));
  const edited = { asked_digest: before?.asked_digest ?? payload_digest, edits: { ...before?.edits, ...edits } };
  const digest = payloadDigest(tool, editedInput(edited));
  await keepEdits(deps, project_id, editsId(_id, digest), edited);
  return { payload_digest: seen ?? edited_payload_digest ?? payload_digest, edited_payload_digest: digest };
}

function refusalOf(cause: Error | undefined): AppError {
  const denied = cause instanceof ApplicationFailure && cause.type === 'access_denied';
  return new AppError(denied ? 'scope_denied' : 'conflict', cause?.message ?? 'the approval refused the decision');
}

/** A workflow that has ended has written its decision before, unless an operator has terminated it. */
async function conflictOfEnded(deps: TerminatedDeps, principal: Principal, id: string): Promise<AppError> {
  const record = await findApproval(deps.collections, principal, id);
  if (record.status !== 'pending' || !(await rejectTerminated(deps, record))) return conflict(record.status);
  return new AppError('conflict', 'an operator has ended the workflow of this approval: its call is rejected');
}

function conflict(status: string): AppError {
  return new AppError(
    'conflict',
    status === 'pending' ? 'the approval can no longer be decided' : `the approval is ${status}`,
  );
}
