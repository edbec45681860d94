import type { ApprovalInput, ApprovalState, ApprovalVote, DecideRequest, DecideResult } from './messages.js';

/** The roles that may decide if no rule names any (contract, approvals). */
const defaultRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'];

export interface Refusal {
  type: 'conflict' | 'access_denied' | 'invalid_request';
  message: string;
}

export function initialState(): ApprovalState {
  return { status: 'pending', votes: [], decided_by: null, decided_at: null };
}

/** Why the vote does not count; undefined if it does. The request is untrusted: an operator can type anything into the Temporal UI. */
export function refusalOf(
  input: ApprovalInput,
  state: ApprovalState,
  request: DecideRequest | undefined,
  at: number,
): Refusal | undefined {
  const approver: Partial<DecideRequest['approver']> | undefined = request?.approver;
  if (
    !request ||
    typeof approver?.user_id !== 'string' ||
    approver.user_id === '' ||
    !['approve', 'reject'].includes(request.decision)
  ) {
    return {
      type: 'invalid_request',
      message: 'decide takes {approver: {user_id, role}, decision: "approve" or "reject", comment?}',
    };
  }
  const roles = input.approver_roles ?? defaultRoles;
  if (!roles.includes(String(approver.role)))
    return { type: 'access_denied', message: `deciding needs a role of ${roles.join(', ')}` };
  if (approver.user_id === input.requested_by && input.starter_may_decide !== true)
    return { type: 'access_denied', message: 'nobody decides on their own request' };
  if (state.status !== 'pending') return { type: 'conflict', message: `the approval is ${state.status}` };
  if (at >= input.expires_at) return { type: 'conflict', message: 'the approval is expired' };
  if (state.votes.some(({ user_id }) => user_id === approver.user_id)) {
    return { type: 'conflict', message: 'this approver has approved already; another one is needed' };
  }
  return undefined;
}

/** Counts a vote that was not refused. One rejection rejects the call; the required number of approvals approves it. */
export function applyVote(
  input: ApprovalInput,
  state: ApprovalState,
  request: DecideRequest,
  at: number,
): DecideResult {
  const { approver, decision } = request;
  const comment = typeof request.comment === 'string' ? request.comment.slice(0, 1000) : '';
  state.votes.push({ user_id: approver.user_id, role: approver.role, decision, comment, at });
  const approvals = approvalsOf(state).length;
  if (decision === 'reject') settle(state, 'rejected', approver.user_id, at);
  else if (approvals >= input.required_approvers) settle(state, 'approved', approver.user_id, at);
  return {
    approval_id: input.approval_id,
    status: state.status,
    approvals,
    required_approvers: input.required_approvers,
  };
}

export function approvalsOf({ votes }: ApprovalState): ApprovalVote[] {
  return votes.filter(({ decision }) => decision === 'approve');
}

export function settle(
  state: ApprovalState,
  status: 'approved' | 'rejected' | 'expired',
  by: string | null,
  at: number,
): void {
  state.status = status;
  state.decided_by = by;
  state.decided_at = at;
}

/** The Markdown that the Temporal UI shows as the run's current details. */
export function detailsOf(input: ApprovalInput, state: ApprovalState): string {
  return [
    `**${state.status}**: ${input.tool}, asked by ${input.requested_by}`,
    `Approvals: ${approvalsOf(state).length} of ${input.required_approvers}`,
    `Policies: ${input.policy_ids.join(', ')} (version ${input.policy_version})`,
    ...state.votes.map(
      ({ decision, user_id, role, comment }) => `- ${decision} by ${user_id} (${role})${comment && `: ${comment}`}`,
    ),
  ].join('\n\n');
}
