import {
  defaultApproverRoles,
  type ApprovalInput,
  type ApprovalState,
  type ApprovalVote,
  type DecideRequest,
  type DecideResult,
} from './messages.js';

interface Refusal {
  type: 'conflict' | 'access_denied' | 'invalid_request';
  message: string;
}

export function initialState(): ApprovalState {
  return { status: 'pending', votes: [], decided_by: null, decided_at: null };
}

/** When the approval expires, if its clock is not stopped. */
export function expiryOf({ expires_at }: ApprovalInput, { delayed_seconds = 0 }: ApprovalState): number {
  return expires_at + delayed_seconds;
}

export function isClockStopped({ clock_stopped_at }: ApprovalState): boolean {
  return typeof clock_stopped_at === 'number';
}

function isExpired(input: ApprovalInput, state: ApprovalState, at: number): boolean {
  return !isClockStopped(state) && at >= expiryOf(input, state);
}

/** Stops or starts the clock of an act that waits. Returns whether that changed anything. */
export function moveClock(input: ApprovalInput, state: ApprovalState, move: 'stop' | 'start', at: number): boolean {
  const { clock_stopped_at: since, status } = state;
  const isStopped = typeof since === 'number';
  if (input.execution_id === undefined || status !== 'pending' || isStopped === (move === 'stop')) return false;
  if (isStopped) state.delayed_seconds = (state.delayed_seconds ?? 0) + Math.max(0, at - since);
  state.clock_stopped_at = isStopped ? null : at;
  return true;
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
    !['approve', 'accept', 'reject'].includes(request.decision)
  ) {
    return {
      type: 'invalid_request',
      message: 'the request must be {approver: {user_id, role}, decision: "approve", "accept" or "reject", comment?}',
    };
  }
  const roles = input.approver_roles ?? defaultApproverRoles;
  if (!(roles as readonly string[]).includes(String(approver.role)))
    return { type: 'access_denied', message: `deciding needs a role of ${roles.join(', ')}` };
  const barred = barredFromDeciding(input, approver.user_id);
  if (barred !== undefined) return { type: 'access_denied', message: barred };
  if (state.status !== 'pending') return { type: 'conflict', message: `the approval is ${state.status}` };
  if (isExpired(input, state, at)) return { type: 'conflict', message: 'the approval is expired' };
  if (request.decision === 'accept' && input.after_unknown !== true)
    return { type: 'conflict', message: 'only a call whose outcome is unknown can be accepted as done' };
  const stale = staleVoteProblem(input, state, request);
  if (stale !== undefined) return { type: 'conflict', message: stale };
  const digest = request.edited_payload_digest ?? digestOf(input, state);
  if (state.votes.some((vote) => vote.user_id === approver.user_id && digestOf(input, vote) === digest)) {
    return { type: 'conflict', message: 'this approver has approved already; another one is needed' };
  }
  if (state.votes.length >= maxVotes) return { type: 'conflict', message: 'the call was edited too often' };
  return undefined;
}

const maxVotes = 50;

/** Why a person who caused the call does not decide it; undefined if they may. */
export function barredFromDeciding(
  {
    requested_by,
    caused_by = [],
    starter_may_decide,
  }: Pick<ApprovalInput, 'requested_by' | 'caused_by' | 'starter_may_decide'>,
  userId: string,
): string | undefined {
  if (starter_may_decide === true) return undefined;
  if (requested_by === userId) return 'nobody decides on their own request';
  return caused_by.includes(userId)
    ? 'another person must decide: you edited the agentflow of this run, or you prepared, started or scheduled the run'
    : undefined;
}

/** Nobody approves a call that another approver has edited without having seen it. */
function staleVoteProblem(input: ApprovalInput, state: ApprovalState, request: DecideRequest): string | undefined {
  const { decision, payload_digest: seen } = request;
  const isUnseen = decision === 'approve' && seen === undefined && state.edited_payload_digest !== undefined;
  if (!isUnseen && (seen === undefined || seen === digestOf(input, state))) return undefined;
  const why = state.edited_payload_digest === undefined ? 'another call waits' : 'the call was edited';
  return `${why}: read it again, and send the \`payload_digest\` of the call that you approve`;
}

/** The digest of the call to which a request or a vote applies. */
function digestOf(
  { payload_digest: asked }: ApprovalInput,
  edited: Pick<ApprovalState, 'edited_payload_digest'> & Pick<ApprovalVote, 'payload_digest'>,
): string {
  return edited.edited_payload_digest ?? edited.payload_digest ?? asked;
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
  if (typeof request.edited_payload_digest === 'string') state.edited_payload_digest = request.edited_payload_digest;
  const { edited_payload_digest: payload_digest } = state;
  const vote: ApprovalVote = { user_id: approver.user_id, role: approver.role, decision, comment, at };
  state.votes.push({ ...vote, ...(payload_digest !== undefined && { payload_digest }) });
  const approvals = approvalsOf(state).length;
  if (decision === 'reject') settle(state, 'rejected', approver.user_id, at);
  else if (decision === 'accept') {
    // Nothing is sent, so one person suffices, as for a rejection.
    state.accepted = true;
    settle(state, 'approved', approver.user_id, at);
  } else if (approvals >= input.required_approvers) settle(state, 'approved', approver.user_id, at);
  return {
    approval_id: input.approval_id,
    status: state.status,
    approvals,
    required_approvers: input.required_approvers,
  };
}

/** An edit makes another call, so approvals before it no longer count. */
export function approvalsOf({
  votes,
  edited_payload_digest,
}: Pick<ApprovalState, 'votes' | 'edited_payload_digest'>): ApprovalVote[] {
  return votes.filter(
    ({ decision, payload_digest }) => decision === 'approve' && payload_digest === edited_payload_digest,
  );
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
