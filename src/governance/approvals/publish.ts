import type { UpdateFilter } from 'mongodb';
import type { ApprovalActivities } from '../../../workflows/approval/activities.js';
import { withdrawnBy, type ApprovalInput, type ApprovalState } from '../../../workflows/approval/messages.js';
import { isClockStopped } from '../../../workflows/approval/state.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { pick } from '../../base/pick.js';
import { isDuplicateKey, type Mongo } from '../../stores/mongo.js';
import type { EarlierToken } from './earlier-records.js';
import { toApprovalDocument, type ApprovalDocument } from './record.js';
import { mintToken } from './resume-token.js';
import { endHeldCalls } from './settle.js';
import { denyHeldCalls, type EndCallsDeps } from './withdraw.js';

type Request<Name extends keyof ApprovalActivities> = Parameters<ApprovalActivities[Name]>[0];
type PublishDeps = Pick<Mongo, 'collections'> & Pick<EndCallsDeps, 'audit'>;

const whyDenied = {
  rejected: 'the approval was rejected',
  expired: 'nobody decided on it in time',
  withdrawn: 'the approval was withdrawn',
};

/** Edits are kept for the same time. A run that is paused for longer requests a new approval. */
const maxPauseSeconds = 90 * 24 * 3600;

/**
 * Writes a new state into the record of an approval, with its token if that state is `approved`, and ends the calls that it
 * held if it was refused. A state is written once, so a repeat never replaces the token.
 */
export async function recordApproval(
  deps: PublishDeps & { secrets: Pick<SecretBox, 'seal'> },
  { input, state, revision }: Request<'recordApproval'>,
): Promise<void> {
  const { _id, ...written } = toApprovalDocument(input, state, revision);
  const token = state.status === 'approved' && mintToken(deps.secrets, _id, tokenExpiry(input, state));
  const record = { ...written, changed_at: Date.now() };
  const change: UpdateFilter<ApprovalDocument> = token
    ? { $set: { ...record, token, due_at: token.expires_at }, $unset: { attempts: '' } }
    : { $set: record, $unset: { due_at: '', attempts: '' } };
  const { approvals } = deps.collections;
  await ignoreDuplicate(approvals.updateOne({ _id, revision: { $lt: revision } }, change, { upsert: true }));
  await endRefusedCalls(deps, input, state);
}

function tokenExpiry(input: ApprovalInput, state: ApprovalState): number {
  return (state.decided_at ?? input.expires_at) + (isClockStopped(state) ? maxPauseSeconds : input.token_ttl_seconds);
}

async function endRefusedCalls(
  { collections: { lifecycles }, audit }: PublishDeps,
  { approval_id, execution_id }: ApprovalInput,
  { status, decided_by }: ApprovalState,
): Promise<void> {
  if (status === 'pending' || status === 'approved') return;
  const isWithdrawn = decided_by === withdrawnBy;
  // A run records the refusal of its own call, unless it has ended.
  if (execution_id !== undefined && !isWithdrawn) await endHeldCalls(lifecycles, approval_id, { status: 'denied' });
  else await denyHeldCalls({ lifecycles, audit }, approval_id, whyDenied[isWithdrawn ? 'withdrawn' : status]);
}

/** Writes the record of an approval whose workflow began with 0.2.0. Its token is stored apart, before. */
export async function publishApproval(
  deps: PublishDeps,
  { input, state, revision }: Request<'publishApproval'>,
): Promise<void> {
  const { _id, ...written } = toApprovalDocument(input, state, revision);
  const record = { ...written, changed_at: Date.now() };
  const { approvals } = deps.collections;
  await ignoreDuplicate(approvals.updateOne({ _id, revision: { $lte: revision } }, { $set: record }, { upsert: true }));
  await endRefusedCalls(deps, input, state);
}

/** Stores the token of such an approval where processes of 0.2.0 find it. The index on `approval_id` prevents a second one. */
export async function mintResumeToken(
  { collections }: Pick<Mongo, 'collections'>,
  secrets: Pick<SecretBox, 'seal'>,
  { input, approved_at, edited_payload_digest, is_accepted, is_clock_stopped }: Request<'mintResumeToken'>,
): Promise<void> {
  const expires_at = approved_at + (is_clock_stopped ? maxPauseSeconds : input.token_ttl_seconds);
  const { digest, ...token } = mintToken(secrets, input.approval_id, expires_at);
  const record: EarlierToken = {
    _id: digest,
    ...token,
    ...pick(input, 'approval_id', 'project_id', 'caller', 'tool', 'policy_version', 'policy_ids', 'required_approvers'),
    payload_digest: edited_payload_digest ?? input.payload_digest,
    ...(edited_payload_digest !== undefined && { is_edited: true }),
    ...(is_accepted && { is_accepted }),
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
