import { approvalType, approvalWorkflowId, type ApprovalInput } from '../../../workflows/approval/messages.js';
import { initialState } from '../../../workflows/approval/state.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import type { Principal } from '../../auth/principal.js';
import { newId } from '../../base/ids.js';
import { sha256Hex } from '../../base/hash.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import type { Temporal } from '../../temporal/client.js';
import { startOnce } from '../../temporal/start-once.js';
import { epochSeconds } from '../../base/time.js';
import type { PolicyEvaluation } from '../policy/decision.js';
import { keepPayload, type PayloadDeps } from './payload.js';
import type { SummarySource } from './summary.js';
import { moveRequest } from './earlier-records.js';
import { inputOf, isOpen, toApprovalDocument, type ApprovalDocument } from './record.js';
import { callerOf } from './resume-token.js';

/**
 * A repeated call gets the approval that it requested before, even if that approval is settled. The exception is the
 * approval `except`, which the call cannot use.
 */
export interface ApprovalReuse {
  except: string | undefined;
}

export interface ApprovalCall {
  principal: Principal;
  lifecycleId: string;
  tool: string;
  payloadDigest: string;
  decision: PolicyEvaluation;
  /** The call as approvers see it. */
  forApprovers(): Promise<unknown>;
  /** What the summary of the call is made from. */
  summary: SummarySource;
  /** The fields that approvers can edit, with their types; undefined for a call that cannot be edited. */
  editable?: Record<string, string> | undefined;
  /** The call was sent before, and its answer was lost. */
  afterUnknown?: boolean | undefined;
  reusesApproval?: ApprovalReuse | undefined;
  /** The people who caused the call of a run, in addition to the person on whose behalf it acts. */
  causedBy?: (() => Promise<readonly string[]>) | undefined;
}

export interface PendingApproval {
  approvalId: string;
  expiresAt: number;
}

export interface RequestDeps extends PayloadDeps {
  collections: Collections;
  temporal: Temporal;
}

/**
 * Starts the approval of a call. The same call of the same caller under the same policies shares the pending approval,
 * even across processes. The record is stored before the workflow starts; if this process dies in between, a repeat of the
 * call or a sweep starts it.
 * @throws AppError `unavailable` if Temporal does not answer; a retry continues with the same approval
 */
export async function requestApproval(deps: RequestDeps, call: ApprovalCall): Promise<PendingApproval> {
  const { approvals } = deps.collections;
  const identity = identityOf(call);
  for (;;) {
    const latest = await latestApproval(deps.collections, identity);
    const isShared = latest && (mayReuse(latest, call.reusesApproval) || isOpen(latest, epochSeconds()));
    if (latest && !isShared) await approvals.updateOne({ _id: latest._id, call: identity }, { $unset: { call: '' } });
    const approval = isShared ? latest : await insertApproval(deps, call, identity);
    if (!approval) continue;
    await startApproval(deps.temporal, approval);
    return { approvalId: approval._id, expiresAt: approval.expires_at };
  }
}

/** The worker of an earlier attempt was lost after it had requested this approval. A person may have decided since. */
function mayReuse({ _id }: ApprovalDocument, reuses: ApprovalReuse | undefined): boolean {
  return reuses !== undefined && reuses.except !== _id;
}

/** The id of the latest approval for the identical request, if its record shows that it was approved. */
export async function approvedRequest(
  collections: Pick<Collections, 'approvals' | 'approval_requests'>,
  call: ApprovalCall,
): Promise<string | undefined> {
  const latest = await latestApproval(collections, identityOf(call));
  return latest?.status === 'approved' ? latest._id : undefined;
}

async function latestApproval(
  collections: Pick<Collections, 'approvals' | 'approval_requests'>,
  call: string,
): Promise<ApprovalDocument | null> {
  return (await collections.approvals.findOne({ call })) ?? moveRequest(collections, call);
}

/** Stores a new approval of the call. Undefined if another process has just stored one. */
async function insertApproval(
  deps: RequestDeps,
  call: ApprovalCall,
  identity: string,
): Promise<ApprovalDocument | undefined> {
  const { approvals, approval_payloads } = deps.collections;
  const input = inputFor(call, await call.causedBy?.());
  const { approval_id } = input;
  // Stored first, so that approvers can always see the call.
  await keepPayload(deps, {
    approvalId: approval_id,
    projectId: input.project_id,
    organizationId: input.organization_id,
    digest: input.payload_digest,
    call: await call.forApprovers(),
    summary: call.summary,
  });
  const record = toApprovalDocument(input, initialState(), 0);
  try {
    return await insertOnce(approvals, { ...record, call: identity, due_at: input.created_at + startWithinSeconds });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    await approval_payloads.deleteOne({ _id: approval_id });
    return undefined;
  }
}

/** A sweep starts the workflow of an approval after this time, if its process has not. */
const startWithinSeconds = 60;

/** Identical calls of a caller under the same policies have the same identity. */
function identityOf({ principal, tool, payloadDigest, decision }: ApprovalCall): string {
  const { approvers, approver_roles, policy_ids, policy_version, starter_may_decide } = decision;
  const ofRun = principal.executionId !== undefined;
  const identity = [
    principal.projectId,
    callerOf(principal),
    principal.userId,
    tool,
    payloadDigest,
    policy_version,
    policy_ids,
    approvers,
    ...(ofRun && starter_may_decide ? ['starter may decide'] : []),
    ...(approver_roles ?? []),
  ];
  return sha256Hex(JSON.stringify(identity));
}

function inputFor(
  { principal, lifecycleId, tool, payloadDigest, decision, editable, afterUnknown }: ApprovalCall,
  causedBy: readonly string[] = [],
): ApprovalInput {
  const { approvers, approval_ttl_seconds, approver_roles, policy_ids, policy_version, reason } = decision;
  const now = epochSeconds();
  return {
    approval_id: newId(),
    organization_id: principal.organizationId,
    project_id: principal.projectId,
    lifecycle_id: lifecycleId,
    tool,
    requested_by: principal.userId,
    caller: callerOf(principal),
    reason,
    policy_ids,
    policy_version,
    payload_digest: payloadDigest,
    required_approvers: approvers,
    created_at: now,
    expires_at: now + approval_ttl_seconds,
    token_ttl_seconds: approval_ttl_seconds,
    ...(principal.executionId !== undefined && {
      execution_id: principal.executionId,
      starter_may_decide: decision.starter_may_decide,
      ...(causedBy.length > 0 && { caused_by: [...causedBy] }),
      ...(editable && { editable_fields: editable }),
      ...(afterUnknown && { after_unknown: true }),
    }),
    ...(approver_roles && { approver_roles }),
  };
}

/** Starts the workflow of an approval that it has not written yet. It may run already, after a start whose answer was lost. */
export async function startApproval(temporal: Temporal, record: ApprovalDocument): Promise<void> {
  const input = record.revision === 0 ? inputOf(record) : undefined;
  if (!input) return;
  await startOnce(temporal, approvalType, {
    workflowId: approvalWorkflowId(input.approval_id),
    args: [input],
    staticSummary: `${input.tool}, asked by ${input.requested_by}`.slice(0, 200),
    staticDetails: `${input.reason}\n\nPayload: SHA-256 \`${input.payload_digest}\``,
    memo: { tool: input.tool, requested_by: input.requested_by },
    typedSearchAttributes: attributePairs({
      projectId: input.project_id,
      organizationId: input.organization_id,
      lifecycleId: input.lifecycle_id,
    }),
  });
}
