import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { approvalType, approvalWorkflowId, type ApprovalInput, type ApprovalState } from '../../../workflows/approval/messages.js';
import { searchAttributes } from '../../../workflows/search-attributes.js';
import type { Principal } from '../../auth/principal.js';
import { newId } from '../../ids.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/mongo.js';
import type { Temporal } from '../../temporal/client.js';
import { epochSeconds } from '../../time.js';
import type { PolicyEvaluation } from '../policy/decision.js';
import { approvalRecord, type ApprovalRequestDocument } from './record.js';
import { callerOf } from './resume-token.js';

export interface ApprovalCall {
  principal: Principal;
  lifecycleId: string;
  tool: string;
  payloadDigest: string;
  decision: PolicyEvaluation;
}

export interface PendingApproval {
  approval_id: string;
  expires_at: number;
}

interface RequestDeps {
  collections: Collections;
  temporal: Temporal;
}

/**
 * Starts the approval of one call. The same call of the same caller under the same policies gets the approval that
 * waits already, from whichever process.
 * @throws AppError `unavailable` when Temporal does not answer; asking again then goes on with the same approval
 */
export async function requestApproval(deps: RequestDeps, call: ApprovalCall): Promise<PendingApproval> {
  const { approvals } = deps.collections;
  const request = await heldRequest(deps.collections, documentOf(call));
  const { approval_id, expires_at } = request;
  if (!(await approvals.findOne({ _id: approval_id }))) {
    await start(deps, request);
    // For readers that are quicker than the workflow's own first write, which replaces it.
    const pending: ApprovalState = { status: 'pending', votes: [], decided_by: null, decided_at: null };
    await insertOnce(approvals, approvalRecord(request, pending, 0));
  }
  return { approval_id, expires_at };
}

/** The identical request that waits, or ours from now on. */
async function heldRequest({ approvals, approval_requests }: Collections, mine: ApprovalRequestDocument): Promise<ApprovalInput> {
  for (;;) {
    const held = await insertOnce(approval_requests, mine);
    const { approval_id, expires_at } = held.request;
    if (approval_id === mine.request.approval_id) return mine.request;
    const record = await approvals.findOne({ _id: approval_id });
    const waits = (record?.status ?? 'pending') === 'pending' && expires_at > epochSeconds();
    if (waits) return held.request;
    const replaced = await approval_requests.findOneAndReplace({ _id: mine._id, 'request.approval_id': approval_id }, mine);
    if (replaced) return mine.request;
  }
}

function documentOf({ principal, lifecycleId, tool, payloadDigest, decision }: ApprovalCall): ApprovalRequestDocument {
  const { approvers, approval_ttl_seconds, policy_ids, policy_version, reason } = decision;
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
  };
  const identity = [principal.projectId, request.caller, principal.userId, tool, payloadDigest, policy_version, policy_ids, approvers];
  return {
    _id: createHash('sha256').update(JSON.stringify(identity)).digest('hex'),
    request,
    forget_at: new Date((request.expires_at + 3600) * 1000),
  };
}

async function start({ temporal }: RequestDeps, input: ApprovalInput): Promise<void> {
  try {
    await temporal.call((client) =>
      client.workflow.start(approvalType, {
        taskQueue: temporal.taskQueue,
        workflowId: approvalWorkflowId(input.approval_id),
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        args: [input],
        staticSummary: `${input.tool}, asked by ${input.requested_by}`.slice(0, 200),
        staticDetails: `${input.reason}\n\nPayload: SHA-256 \`${input.payload_digest}\``,
        memo: { tool: input.tool, requested_by: input.requested_by },
        typedSearchAttributes: new TypedSearchAttributes([
          { key: searchAttributes.projectId, value: input.project_id },
          { key: searchAttributes.organizationId, value: input.organization_id },
          { key: searchAttributes.lifecycleId, value: input.lifecycle_id },
        ]),
      }),
    );
  } catch (error) {
    // Over already, after a start whose record never came: the workflow writes it.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
