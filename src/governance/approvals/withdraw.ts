import { approvalWorkflowId } from '../../../workflows/approval/messages.js';
import { actorOf } from '../../auth/principal.js';
import type { Collections } from '../../stores/collections.js';
import { cancelWorkflow, type Temporal } from '../../temporal/client.js';
import type { Audit } from '../audit/audit.js';
import { endHeldCalls, settleApproval } from './settle.js';

/** The dependencies of the functions that end held calls. */
export interface EndCallsDeps {
  collections: Pick<Collections, 'lifecycles' | 'resume_tokens'>;
  audit: Pick<Audit, 'append' | 'entrySince'>;
}

export interface WithdrawDeps extends EndCallsDeps {
  collections: Pick<Collections, 'approvals' | 'lifecycles' | 'resume_tokens'>;
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
  const asked = await collections.approvals.find({ execution_id }, { projection: { status: 1 } }).toArray();
  for (const { _id, status } of asked) {
    if (status === 'pending') await cancelWorkflow(temporal, approvalWorkflowId(_id));
    else if (status === 'approved') await endUnused({ collections, audit }, _id);
  }
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
  const asked = await approvals.find(pending, { projection: { lifecycle_id: 1 } }).toArray();
  for (const { _id, lifecycle_id } of asked) {
    const call = await lifecycles.findOne({ _id: lifecycle_id }, { projection: { act: 1 } });
    // A call whose worker was lost has no record yet.
    const intent = call ? null : await intents.findOne({ _id: lifecycle_id }, { projection: { resource: 1 } });
    const isOfAct = call?.act?.idempotency_key === idempotency_key || intent?.resource === `act:${idempotency_key}`;
    if (isOfAct) await cancelWorkflow(temporal, approvalWorkflowId(_id));
  }
}

/** Invalidates the token first, so that a call that the run has not made is never made. */
async function endUnused(
  { collections, audit }: Pick<WithdrawDeps, 'collections' | 'audit'>,
  approval_id: string,
): Promise<void> {
  const { lifecycles, resume_tokens } = collections;
  const { matchedCount } = await resume_tokens.updateOne({ approval_id, used_at: null }, { $set: { expires_at: 0 } });
  if (matchedCount === 0) {
    const token = await resume_tokens.findOne({ approval_id });
    // The worker was lost after it had used the token.
    if (token?.used_by)
      await settleApproval(collections, { tokenId: token._id, lifecycleId: token.used_by, completed: true });
    return;
  }
  await denyHeldCalls({ lifecycles, audit }, approval_id, 'the run ended before it used the approval');
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
