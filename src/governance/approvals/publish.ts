import type { ApprovalActivities } from '../../../workflows/approval/activities.js';
import { withdrawnBy } from '../../../workflows/approval/messages.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { isDuplicateKey, type Mongo } from '../../stores/mongo.js';
import { toApprovalDocument, type ResumeTokenDocument } from './record.js';
import { sha256Hex } from '../../base/hash.js';
import { resumeTokens, sealedFor } from './resume-token.js';
import { endHeldCalls } from './settle.js';
import { denyHeldCalls, type EndCallsDeps } from './withdraw.js';
import { pick } from '../../base/pick.js';

type Request<Name extends keyof ApprovalActivities> = Parameters<ApprovalActivities[Name]>[0];

const whyDenied = {
  rejected: 'the approval was rejected',
  expired: 'nobody decided on it in time',
  withdrawn: 'the approval was withdrawn',
};

/** Writes the record of an approval, and ends the calls that it held if it was not approved. */
export async function publishApproval(
  { collections, audit }: Pick<Mongo, 'collections'> & Pick<EndCallsDeps, 'audit'>,
  { input, state, revision }: Request<'publishApproval'>,
): Promise<void> {
  const { approvals, lifecycles } = collections;
  const { _id, ...written } = toApprovalDocument(input, state, revision);
  const record = { ...written, changed_at: Date.now() };
  await ignoreDuplicate(approvals.replaceOne({ _id, revision: { $lte: revision } }, record, { upsert: true }));
  if (state.status === 'pending' || state.status === 'approved') return;
  const isWithdrawn = state.decided_by === withdrawnBy;
  // A run records the refusal of its own call, unless it has ended.
  if (input.execution_id !== undefined && !isWithdrawn) await endHeldCalls(lifecycles, _id, { status: 'denied' });
  else await denyHeldCalls({ lifecycles, audit }, _id, whyDenied[isWithdrawn ? 'withdrawn' : state.status]);
}

/** Edits are kept for the same time. A run that is paused for longer requests a new approval. */
const maxPauseSeconds = 90 * 24 * 3600;

/** Stores the resume token of an approval. The index on `approval_id` prevents a second token. */
export async function mintResumeToken(
  { collections }: Pick<Mongo, 'collections'>,
  secrets: Pick<SecretBox, 'seal'>,
  { input, approved_at, edited_payload_digest, is_accepted, is_clock_stopped }: Request<'mintResumeToken'>,
): Promise<void> {
  const token = resumeTokens.create();
  const record: ResumeTokenDocument = {
    _id: sha256Hex(token),
    ...pick(input, 'approval_id', 'project_id', 'caller', 'tool', 'policy_version', 'policy_ids', 'required_approvers'),
    payload_digest: edited_payload_digest ?? input.payload_digest,
    ...(edited_payload_digest !== undefined && { is_edited: true }),
    ...(is_accepted && { is_accepted }),
    sealed: secrets.seal(token, sealedFor(input.approval_id)),
    expires_at: approved_at + (is_clock_stopped ? maxPauseSeconds : input.token_ttl_seconds),
    used_at: null,
    used_by: null,
  };
  await ignoreDuplicate(collections.resume_tokens.insertOne(record));
}

/** A duplicate key means that this state, or a newer one, was already written. */
async function ignoreDuplicate(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}
