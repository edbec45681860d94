import { newId } from '../../base/ids.js';
import { sha256Hex } from '../../base/hash.js';
import type { Collections } from '../../stores/collections.js';
import { resumeTokens, refusalOf, type ResumedCall, type ResumeRefusal } from './resume-token.js';

/** The approval under which a call runs, the id for a record that the call creates, and the `_id` of the token. */
export interface Redeemed {
  approvalId: string;
  recordId: string;
  tokenId: string;
}

type Tokens = Pick<Collections, 'resume_tokens'>;
type RedeemingCall = ResumedCall & { lifecycleId: string };

/** Redeems the token that a caller sent. A call that does not match the token leaves the token unused. */
export async function redeemResumeToken(
  tokens: Tokens,
  { token, ...call }: RedeemingCall & { token: string },
): Promise<Redeemed | ResumeRefusal> {
  return resumeTokens.isWellFormed(token) ? redeem(tokens, { _id: sha256Hex(token) }, call) : 'malformed';
}

/**
 * Redeems a token, or that of an approval for a caller that does not have the token, such as a person in the console. Marks
 * it as used by one lifecycle. If several matching calls arrive, the atomic update lets exactly one of them through. A
 * call that does not complete releases the token; the next attempt then uses the same record id.
 */
export async function redeem(
  { resume_tokens }: Tokens,
  named: { _id: string } | { approval_id: string },
  { lifecycleId, ...call }: RedeemingCall,
): Promise<Redeemed | ResumeRefusal> {
  const record = await resume_tokens.findOne(named);
  if (!record) return 'unknown';
  const refusal = refusalOf(record, call);
  if (refusal !== undefined) return refusal;
  const { _id: tokenId, approval_id: approvalId, record_id: recordId = newId(), expires_at } = record;
  const bound = { used_at: call.now, used_by: lifecycleId, record_id: recordId };
  const { matchedCount } = await resume_tokens.updateOne({ _id: tokenId, used_at: null, expires_at }, { $set: bound });
  return matchedCount === 1 ? { approvalId, recordId, tokenId } : 'used';
}
