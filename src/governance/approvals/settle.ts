import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import { findWithToken, moveToken } from './earlier-records.js';

export interface Settlement {
  approvalId: string;
  /** The lifecycle of the call that used the token of the approval. */
  lifecycleId: string;
  completed: boolean;
}

type Settled = Pick<Collections, 'approvals' | 'lifecycles' | 'resume_tokens'>;

/**
 * Settles the approval after a call that used its token. If the call completed, marks the approval as used and ends the
 * calls that it held. Otherwise, releases the token. Safe to repeat.
 */
export async function settleApproval(
  collections: Settled,
  { approvalId: _id, lifecycleId, completed }: Settlement,
): Promise<void> {
  const { approvals, lifecycles } = collections;
  const found = await findWithToken(collections, { approvalId: _id });
  const token = found?.approval.token;
  if (token?.used_by !== lifecycleId) return;
  if (found?.earlier) await moveToken(collections, found.earlier);
  const usedByCall = { _id, status: 'approved', 'token.used_by': lifecycleId } as const;
  if (!completed) {
    await approvals.updateOne(usedByCall, { $set: { 'token.used_at': null, 'token.used_by': null } });
    return;
  }
  // The higher revision prevents a late write of the workflow from overwriting this state.
  const used = {
    $set: { status: 'used', used_at: token.used_at, used_by: lifecycleId, changed_at: Date.now() },
    $unset: { due_at: '', attempts: '' },
    $inc: { revision: 1 },
  } as const;
  await Promise.all([
    approvals.updateOne(usedByCall, used),
    endHeldCalls(lifecycles, _id, { status: 'completed', continued_by: lifecycleId }),
  ]);
}

/** Settles an approval that a call used and did not settle, because its worker or its answer was lost. */
export async function settleUsed(collections: Settled, approvalId: string): Promise<void> {
  const found = await findWithToken(collections, { approvalId });
  const lifecycleId = found?.approval.token?.used_by;
  if (lifecycleId) await settleApproval(collections, { approvalId, lifecycleId, completed: true });
}

/** The id of the approval whose token this lifecycle has used, and not released. */
export async function approvalUsedBy(
  { approvals, resume_tokens }: Pick<Collections, 'approvals' | 'resume_tokens'>,
  lifecycleId: string,
): Promise<string | undefined> {
  const approval = await approvals.findOne({ 'token.used_by': lifecycleId }, { projection: { _id: 1 } });
  return approval?._id ?? (await resume_tokens.findOne({ used_by: lifecycleId }))?.approval_id;
}

/** Records the outcome on all calls that the approval held. */
export async function endHeldCalls(
  lifecycles: Settled['lifecycles'],
  approvalId: string,
  end: { status: 'completed'; continued_by?: string } | { status: 'denied' },
): Promise<void> {
  const held = { approval_id: approvalId, status: 'pending_approval' } as const;
  await lifecycles.updateMany(held, { $set: { ...end, ended_at: epochSeconds() } });
}
