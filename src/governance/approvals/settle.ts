import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';

export interface Settlement {
  /** The `_id` of the resume token's record. */
  tokenId: string;
  /** The lifecycle of the call that used the token. */
  lifecycleId: string;
  completed: boolean;
}

type Settled = Pick<Collections, 'approvals' | 'lifecycles' | 'resume_tokens'>;

/**
 * Settles the approval after a call with a resume token. If the call completed, marks the approval as used and ends the
 * calls that it held. Otherwise, releases the token. Safe to repeat.
 */
export async function settleApproval(
  { approvals, lifecycles, resume_tokens }: Settled,
  { tokenId, lifecycleId, completed }: Settlement,
): Promise<void> {
  const tokenOfCall = { _id: tokenId, used_by: lifecycleId };
  if (!completed) {
    await resume_tokens.updateOne(tokenOfCall, { $set: { used_at: null, used_by: null } });
    return;
  }
  const token = await resume_tokens.findOne(tokenOfCall);
  if (!token) return;
  const { approval_id, used_at } = token;
  // The higher revision prevents a late write of the workflow from overwriting this state.
  const used = {
    $set: { status: 'used', used_at, used_by: lifecycleId, changed_at: Date.now() },
    $inc: { revision: 1 },
  } as const;
  await Promise.all([
    approvals.updateOne({ _id: approval_id, status: 'approved' }, used),
    endHeldCalls(lifecycles, approval_id, { status: 'completed', continued_by: lifecycleId }),
  ]);
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
