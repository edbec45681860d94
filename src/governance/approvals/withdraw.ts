import { approvalWorkflowId } from '../../../workflows/approval/messages.js';
import { actorOf } from '../../auth/principal.js';
import type { Collections } from '../../stores/collections.js';
import { cancelWorkflow, type Temporal } from '../../temporal/client.js';
import type { Audit } from '../audit/audit.js';
import { epochSeconds } from '../../base/time.js';
import { findWithToken, moveToken } from './earlier-records.js';
import type { ApprovalDocument } from './record.js';
import { startApproval } from './request.js';
import { endHeldCalls, settleUsed } from './settle.js';

/** The dependencies of the functions that end held calls. */
export interface EndCallsDeps {
  collections: Pick<Collections, 'approvals' | 'lifecycles' | 'resume_tokens'>;
  audit: Pick<Audit, 'append' | 'entrySince'>;
}

export interface WithdrawDeps extends EndCallsDeps {
  temporal: Temporal;
}

/**
 * Withdraws the approvals of a run that has ended: nobody decides those that are pending, and the calls of those that are
 * approved are not made. The last call must come after the end of the run is in its record. Safe to repeat.
 */
export async function withdrawApprovals(
  { collections, temporal, audit }: WithdrawDeps,
  execution_id: string,
): Promise<void> {
  for (const approval of await collections.approvals.find({ execution_id }).toArray()) {
    if (approval.status === 'pending') await withdrawPending(temporal, approval);
    else if (approval.status === 'approved') await endUnused({ collections, audit }, approval._id);
  }
}

/** Only the workflow of an approval changes its state, so it is started if its process died before. */
async function withdrawPending(temporal: Temporal, approval: ApprovalDocument): Promise<void> {
  await startApproval(temporal, approval);
  await cancelWorkflow(temporal, approvalWorkflowId(approval._id));
}

/** Withdraws the pending approval of one act of a run, which no longer waits for it. Safe to repeat. */
export async function withdrawApprovalOfAct(
  {
    collections: { approvals, lifecycles, intents },
    temporal,
  }: { collections: Pick<Collections, 'approvals' | 'lifecycles' | 'intents'>; temporal: Temporal },
  { execution_id, idempotency_key }: { execution_id: string; idempotency_key: string },
): Promise<void> {
  const pending = { execution_id, status: 'pending' as const };
  for (const approval of await approvals.find(pending).toArray()) {
    const { lifecycle_id } = approval;
    const call = await lifecycles.findOne({ _id: lifecycle_id }, { projection: { act: 1 } });
    // A call whose worker was lost has no record yet.
    const intent = call ? null : await intents.findOne({ _id: lifecycle_id }, { projection: { resource: 1 } });
    const isOfAct = call?.act?.idempotency_key === idempotency_key || intent?.resource === `act:${idempotency_key}`;
    if (isOfAct) await withdrawPending(temporal, approval);
  }
}

/** If this process dies before it has ended the calls, a sweep does. */
async function endUnused(deps: EndCallsDeps, approvalId: string): Promise<void> {
  if (await endToken(deps.collections, approvalId, { due_at: epochSeconds() + endWithinSeconds }))
    await endCallsOfToken(deps, approvalId, 'the run ended before it used the approval');
  // The worker was lost after it had used the token.
  else await settleUsed(deps.collections, approvalId);
}

const endWithinSeconds = 60;

/**
 * Makes the unused token of an approval invalid, so that the call that it permits is never made. A sweep ends the calls at
 * `due_at` if nobody has. Returns false if the token is in use, or expires after `expiredBefore`.
 */
export async function endToken(
  collections: EndCallsDeps['collections'],
  approvalId: string,
  { due_at, expiredBefore = Number.MAX_SAFE_INTEGER }: { due_at?: number; expiredBefore?: number },
): Promise<boolean> {
  const found = await findWithToken(collections, { approvalId });
  if (found?.earlier && found.earlier.used_at === null) await moveToken(collections, found.earlier);
  const { matchedCount } = await collections.approvals.updateOne(
    { _id: approvalId, status: 'approved', 'token.used_at': null, 'token.expires_at': { $lt: expiredBefore } },
    { $set: { 'token.expires_at': 0, ...(due_at !== undefined && { due_at }) } },
  );
  return matchedCount === 1;
}

/** Ends the calls that wait for a token that has ended. Safe to repeat. */
export async function endCallsOfToken(
  { collections, audit }: EndCallsDeps,
  approvalId: string,
  why: string,
): Promise<void> {
  await denyHeldCalls({ lifecycles: collections.lifecycles, audit }, approvalId, why);
  await collections.approvals.updateOne({ _id: approvalId }, { $unset: { due_at: '', attempts: '' } });
}

/** Ends the calls that an approval held and that are never made, each with one audit entry, even if it is repeated. */
export async function denyHeldCalls(
  { lifecycles, audit }: Pick<Collections, 'lifecycles'> & Pick<EndCallsDeps, 'audit'>,
  approval_id: string,
  why: string,
): Promise<void> {
  const held = await lifecycles.find({ approval_id, status: 'pending_approval' }).toArray();
  for (const { _id: lifecycle_id, organization_id, principal, tool: action, act, created_at: since } of held) {
    // An earlier attempt may have died after it had appended the entry.
    if (await audit.entrySince(organization_id, { lifecycle_id, since, outcome: 'denied' })) continue;
    const { user_id: userId, execution_id, kind, key_id: keyId, client_id: clientId } = principal;
    const ofRun = execution_id === undefined ? `approval:${approval_id}` : `execution:${execution_id}`;
    await audit.append({
      ...{ organization_id, action, lifecycle_id },
      actor: actorOf({ userId, kind, keyId, clientId, executionId: execution_id }),
      resource: act ? `act:${act.idempotency_key}` : ofRun,
      outcome: `denied: ${why}`,
    });
  }
  await endHeldCalls(lifecycles, approval_id, { status: 'denied' });
}
