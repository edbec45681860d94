import { approvalType, approvalWorkflowId, type ApprovalInput } from '../../../workflows/approval/messages.js';
import { initialState } from '../../../workflows/approval/state.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import type { Principal } from '../../auth/principal.js';
import { newId } from '../../base/ids.js';
import { sha256Hex } from '../../base/hash.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import type { Temporal } from '../../temporal/client.js';
import { startOnce } from '../../temporal/start-once.js';
import { epochSeconds } from '../../base/time.js';
import type { PolicyEvaluation } from '../policy/decision.js';
import { keepPayload, type PayloadDeps } from './payload.js';
import type { SummarySource } from './summary.js';
import { toApprovalDocument, type ApprovalDocument, type ApprovalRequestDocument } from './record.js';
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
 * even across processes.
 * @throws AppError `unavailable` if Temporal does not answer; a retry continues with the same approval
 */
export async function requestApproval(deps: RequestDeps, call: ApprovalCall): Promise<PendingApproval> {
  const { approvals } = deps.collections;
  const request = await sharedRequest(deps.collections, documentOf(call, await call.causedBy?.()), call.reusesApproval);
  const { approval_id } = request;
  const record = await approvals.findOne({ _id: approval_id });
  const { expires_at } = record ?? request;
  if (!record) {
    // Stored first, so that approvers can always see the call.
    await keepPayload(deps, {
      approvalId: approval_id,
      projectId: request.project_id,
      organizationId: request.organization_id,
      digest: request.payload_digest,
      call: await call.forApprovers(),
      summary: call.summary,
    });
    await start(deps, request);
    // Serves readers until the first write of the workflow replaces it.
    await insertOnce(approvals, toApprovalDocument(request, initialState(), 0));
  }
  return { approvalId: approval_id, expiresAt: expires_at };
}

/**
 * The id of the latest approval for the identical request, if its record shows that it was approved. The token exists a
 * moment earlier, but the record of a call that used it then would not show the use.
 */
export async function approvedRequest(
  { approvals, approval_requests }: Pick<Collections, 'approvals' | 'approval_requests'>,
  call: ApprovalCall,
): Promise<string | undefined> {
  const known = await approval_requests.findOne({ _id: documentOf(call)._id });
  const approved = known && (await approvals.findOne({ _id: known.request.approval_id, status: 'approved' }));
  return approved?._id;
}

/** The identical pending request, or with `reusesApproval` the earlier one. Otherwise, stores and returns the new request. */
async function sharedRequest(
  { approvals, approval_requests }: Collections,
  proposed: ApprovalRequestDocument,
  reusesApproval: ApprovalReuse | undefined,
): Promise<ApprovalInput> {
  for (;;) {
    const stored = await insertOnce(approval_requests, proposed);
    const { approval_id, expires_at } = stored.request;
    if (approval_id === proposed.request.approval_id) return proposed.request;
    // The worker of an earlier attempt was lost after it had requested this approval. A person may have decided since.
    if (reusesApproval && reusesApproval.except !== approval_id) return stored.request;
    const record = await approvals.findOne({ _id: approval_id });
    const isOpen = isStopped(record) || (record?.expires_at ?? expires_at) > epochSeconds();
    const waits = (record?.status ?? 'pending') === 'pending' && isOpen;
    if (waits) return stored.request;
    const replaced = await approval_requests.findOneAndReplace(
      { _id: proposed._id, 'request.approval_id': approval_id },
      proposed,
    );
    if (replaced) return proposed.request;
  }
}

function isStopped(record: Pick<ApprovalDocument, 'clock_stopped_at'> | null): boolean {
  return typeof record?.clock_stopped_at === 'number';
}

function documentOf(
  { principal, lifecycleId, tool, payloadDigest, decision, editable, afterUnknown }: ApprovalCall,
  causedBy: readonly string[] = [],
): ApprovalRequestDocument {
  const { approvers, approval_ttl_seconds, approver_roles, policy_ids, policy_version, reason } = decision;
  const now = epochSeconds();
  const request: ApprovalInput = {
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
  const identity = [
    principal.projectId,
    request.caller,
    principal.userId,
    tool,
    payloadDigest,
    policy_version,
    policy_ids,
    approvers,
    ...(request.starter_may_decide === true ? ['starter may decide'] : []),
    ...(approver_roles ?? []),
  ];
  return { _id: sha256Hex(JSON.stringify(identity)), request, forget_at: new Date((request.expires_at + 3600) * 1000) };
}

/** The workflow writes the record. It may have run already, after a start whose answer was lost. */
async function start({ temporal }: RequestDeps, input: ApprovalInput): Promise<void> {
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
