import type { Collections } from '../../stores/collections.js';
import { hashResumeToken, isResumeToken, refusalOf, type ResumedCall, type ResumeRefusal } from './resume-token.js';

export type Redemption = { ok: true; approvalId: string } | { ok: false; reason: ResumeRefusal };

/**
 * Uses a token up for one call. A call that is not the token's leaves it as it is; of many that are, one update by
 * `_id` lets exactly one pass.
 */
export async function redeemResumeToken(
  { resume_tokens }: Pick<Collections, 'resume_tokens'>,
  { token, lifecycleId, ...call }: ResumedCall & { token: string; lifecycleId: string },
): Promise<Redemption> {
  if (!isResumeToken(token)) return { ok: false, reason: 'malformed' };
  const record = await resume_tokens.findOne({ _id: hashResumeToken(token) });
  if (!record) return { ok: false, reason: 'unknown' };
  const refusal = refusalOf(record, call);
  if (refusal !== undefined) return { ok: false, reason: refusal };
  const { matchedCount } = await resume_tokens.updateOne(
    { _id: record._id, used_at: null },
    { $set: { used_at: call.now, used_by: lifecycleId } },
  );
  return matchedCount === 1 ? { ok: true, approvalId: record.approval_id } : { ok: false, reason: 'used' };
}
