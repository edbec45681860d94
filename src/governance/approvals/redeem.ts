import { newId } from '../../base/ids.js';
import { sha256Hex } from '../../base/hash.js';
import type { Collections } from '../../stores/collections.js';
import { findWithToken, moveToken } from './earlier-records.js';
import { resumeTokens, refusalOf, type ResumedCall, type ResumeRefusal } from './resume-token.js';

/** The approval under which a call runs, and the id for a record that the call creates. */
export interface Redeemed {
  approvalId: string;
  recordId: string;
}

type Tokens = Pick<Collections, 'approvals' | 'resume_tokens'>;
type RedeemingCall = ResumedCall & { lifecycleId: string };

/** Redeems the token that a caller sent. A call that does not match the token leaves the token unused. */
export async function redeemResumeToken(
  tokens: Tokens,
  { token, ...call }: RedeemingCall & { token: string },
): Promise<Redeemed | ResumeRefusal> {
  return resumeTokens.isWellFormed(token) ? redeem(tokens, { digest: sha256Hex(token) }, call) : 'malformed';
}

/**
 * Redeems a token, or that of an approval for a caller that does not have the token, such as a person in the console. Marks
 * it as used by one lifecycle. If several matching calls arrive, the atomic update lets exactly one of them through. A
 * call that does not complete releases the token; the next attempt then uses the same record id.
 */
export async function redeem(
  tokens: Tokens,
  named: { digest: string } | { approvalId: string },
  { lifecycleId, ...call }: RedeemingCall,
): Promise<Redeemed | ResumeRefusal> {
  const found = await findWithToken(tokens, named);
  if (!found?.approval.token) return 'unknown';
  const { token, ...approval } = found.approval;
  const refusal = refusalOf({ ...approval, token }, call);
  if (refusal !== undefined) return refusal;
  if (found.earlier) await moveToken(tokens, found.earlier);
  const { _id: approvalId } = approval;
  const { digest, expires_at, record_id: recordId = newId() } = token;
  const { matchedCount } = await tokens.approvals.updateOne(
    {
      ...{ _id: approvalId, status: 'approved' },
      ...{ 'token.digest': digest, 'token.used_at': null, 'token.expires_at': expires_at },
    },
    { $set: { 'token.used_at': call.now, 'token.used_by': lifecycleId, 'token.record_id': recordId } },
  );
  return matchedCount === 1 ? { approvalId, recordId } : 'used';
}
