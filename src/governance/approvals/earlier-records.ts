import type { ApprovalInput } from '../../../workflows/approval/messages.js';
import { epochSeconds } from '../../base/time.js';
import { defineCollection, type Collections } from '../../stores/collections.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import type { ApprovalDocument, ResumeToken } from './record.js';

/**
 * Release 0.2.0 kept the claim of a call on its approval and the resume token in collections of their own, and its processes
 * can run beside those of this release during an upgrade. What such a process stored is moved into the record of the
 * approval when it is used, and otherwise by a sweep. Approvals whose workflow began with 0.2.0 still get their token there.
 */

/** `_id` is the hash of caller and call. */
interface EarlierRequest {
  _id: string;
  request: ApprovalInput;
  forget_at: Date;
}

/** `_id` is the SHA-256 of the token. */
export interface EarlierToken extends Omit<ResumeToken, 'digest'> {
  _id: string;
  approval_id: string;
  caller: string;
  /** The processes of 0.2.0 compare these with the call. */
  project_id: string;
  tool: string;
  payload_digest: string;
  is_edited?: boolean;
  is_accepted?: boolean;
  policy_version: number;
  policy_ids: string[];
  required_approvers: number;
  /** The expiry while the token is moved. `expires_at` is zero then, so no process of 0.2.0 can use it. */
  moved_expires_at?: number;
}

type Moving = Pick<Collections, 'approvals' | 'resume_tokens'>;

/** An approval with its token. `earlier` is the record of the token if it has not been moved. */
export interface Found {
  approval: ApprovalDocument;
  earlier?: EarlierToken;
}

/** Finds an approval by its id or by the SHA-256 of its token. Changes nothing. */
export async function findWithToken(
  { approvals, resume_tokens }: Moving,
  named: { approvalId: string } | { digest: string },
): Promise<Found | undefined> {
  const isById = 'approvalId' in named;
  const known = await approvals.findOne(isById ? { _id: named.approvalId } : { 'token.digest': named.digest });
  if (known && (known.token || !wasApproved(known))) return { approval: known };
  const earlier = await resume_tokens.findOne(isById ? { approval_id: named.approvalId } : { _id: named.digest });
  const approval = known ?? (earlier && (await approvals.findOne({ _id: earlier.approval_id })));
  if (!approval) return undefined;
  // Another process has moved the token in the meantime.
  if (approval.token) return isById || approval.token.digest === named.digest ? { approval } : undefined;
  if (!earlier || !wasApproved(approval)) return { approval };
  return { approval: { ...approval, ...partsOf(earlier) }, earlier };
}

function wasApproved({ status }: ApprovalDocument): boolean {
  return status === 'approved' || status === 'used';
}

/** Zero in `expires_at` is also the mark of a token whose calls have been ended. */
function partsOf(earlier: EarlierToken): Required<Pick<ApprovalDocument, 'caller' | 'token'>> {
  const { _id: digest, caller, sealed, expires_at, moved_expires_at, used_at, used_by, record_id } = earlier;
  const token = { digest, sealed, expires_at: moved_expires_at ?? expires_at, used_at, used_by };
  return { caller, token: { ...token, ...(record_id !== undefined && { record_id }) } };
}

/**
 * Moves a token into the record of its approval, which must have been approved. Safe to repeat after a crash at any point: a
 * process of 0.2.0 uses a token only with the expiry that it has read, so the first update decides who uses it. Without
 * effect if the token has changed since it was read.
 */
export async function moveToken({ approvals, resume_tokens }: Moving, earlier: EarlierToken): Promise<void> {
  const { _id, approval_id, used_at, used_by, expires_at } = earlier;
  const { caller, token } = partsOf(earlier);
  const { matchedCount } = await resume_tokens.updateOne(
    { _id, used_at, used_by, expires_at },
    { $set: { expires_at: 0, moved_expires_at: token.expires_at } },
  );
  if (matchedCount === 0) return;
  // A worker of 0.2.0 replaces the whole record of an approval, but not one with a higher revision.
  await approvals.updateOne(
    { _id: approval_id, status: { $in: ['approved', 'used'] }, token: { $exists: false } },
    { $set: { caller, token, ...(token.expires_at > 0 && { due_at: token.expires_at }) }, $inc: { revision: 1 } },
  );
  await resume_tokens.deleteOne({ _id, used_at, used_by });
}

/**
 * Moves the tokens that a sweep must see: those that have expired, and those whose call has ended or was lost. A call that
 * runs keeps its token where it found it, and an unused token is moved when it is used.
 */
export async function moveTokens(
  collections: Pick<Collections, 'approvals' | 'resume_tokens' | 'intents'>,
  now = epochSeconds(),
): Promise<void> {
  const { approvals, resume_tokens, intents } = collections;
  for await (const earlier of resume_tokens.find({}).sort({ _id: 1 })) {
    const { _id, approval_id, used_by, expires_at } = earlier;
    const approval = await approvals.findOne({ _id: approval_id }, { projection: { status: 1 } });
    if (!approval || approval.status === 'used') await resume_tokens.deleteOne({ _id });
    if (approval?.status !== 'approved') continue;
    const isRunning =
      used_by !== null && (await intents.findOne({ _id: used_by }, { projection: { _id: 1 } })) !== null;
    if (used_by === null ? expires_at < now : !isRunning) await moveToken(collections, earlier);
  }
}

/** The approval to which a process of 0.2.0 gave the claim of this call. Moves the claim into its record. */
export async function moveRequest(
  { approvals, approval_requests }: Pick<Collections, 'approvals' | 'approval_requests'>,
  call: string,
): Promise<ApprovalDocument | null> {
  const earlier = await approval_requests.findOne({ _id: call });
  if (!earlier) return null;
  const { approval_id: _id } = earlier.request;
  try {
    await approvals.updateOne({ _id, call: { $exists: false } }, { $set: { call } });
  } catch (error) {
    // A later approval of the call has its claim.
    if (!isDuplicateKey(error)) throw error;
  }
  await approval_requests.deleteOne({ _id: call, 'request.approval_id': _id });
  return approvals.findOne({ call });
}

export const approvalRequestsCollection = defineCollection('approval_requests', {
  indexes: [{ keys: { forget_at: 1 }, options: { expireAfterSeconds: 0 } }],
  majorityRead: true,
});
export const resumeTokensCollection = defineCollection('resume_tokens', {
  indexes: [{ keys: { approval_id: 1 }, options: { unique: true } }, { keys: { used_by: 1 } }],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    approval_requests: EarlierRequest;
    resume_tokens: EarlierToken;
  }
}
