import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  getExternalWorkflowHandle,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { approvalSettledSignal } from '../agentflow-execution/act-messages.js';
import { executionWorkflowId } from '../agentflow-execution/messages.js';
import { epochSeconds } from '../time.js';
import type { ApprovalActivities } from './activities.js';
import {
  decideUpdate,
  startClockSignal,
  stateQuery,
  stopClockSignal,
  withdrawnBy,
  type ApprovalInput,
  type ApprovalState,
  type DecideRequest,
} from './messages.js';
import { applyVote, detailsOf, expiryOf, initialState, isClockStopped, refusalOf, settle, moveClock } from './state.js';

const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;
/** Another worker continues soon after one is lost. */
const limits = { startToCloseTimeout: '10s', heartbeatTimeout: '5s', retry } as const;
const { recordApproval, publishApproval } = proxyActivities<
  Pick<ApprovalActivities, 'recordApproval' | 'publishApproval'>
>({ ...limits, summary: 'write the approval record' });
const { mintResumeToken } = proxyActivities<Pick<ApprovalActivities, 'mintResumeToken'>>({
  ...limits,
  summary: 'mint the resume token',
});

/**
 * Holds one call until enough people have approved it, one has rejected it, or it expires (design, S6). Cancelling the run in
 * Temporal rejects the call.
 */
export async function approval(input: ApprovalInput): Promise<ApprovalState> {
  const state = initialState();
  // Workflows that began with 0.2.0 store the token apart.
  const isOneRecord = patched('one-record');
  let changes = 1;
  let recorded = 0;
  const changed = () => {
    changes += 1;
    setCurrentDetails(detailsOf(input, state));
  };

  setHandler(stateQuery, () => state, { description: 'The status of the approval and its votes' });
  const turn = (move: 'stop' | 'start') => () => void (moveClock(input, state, move, epochSeconds()) && changed());
  setHandler(stopClockSignal, turn('stop'), { description: 'The run of the act is paused' });
  setHandler(startClockSignal, turn('start'), { description: 'The run of the act continues' });
  setHandler(
    decideUpdate,
    async (request) => {
      const result = applyVote(input, state, request, epochSeconds());
      changed();
      const change = changes;
      // When the caller gets the answer, the record shows the vote and the resume token exists. A cancel does not change it.
      await CancellationScope.nonCancellable(() => condition(() => recorded >= change));
      return result;
    },
    {
      description: 'Vote on the held call. Accepts only requests of the API',
      validator: (request: DecideRequest | undefined) => refuse(input, state, request),
    },
  );
  void CancellationScope.current().cancelRequested.catch(() => {
    if (state.status !== 'pending') return;
    settle(state, 'rejected', withdrawnBy, epochSeconds());
    changed();
  });
  setCurrentDetails(detailsOf(input, state));

  await CancellationScope.nonCancellable(async () => {
    while (recorded < changes) {
      const change = changes;
      if (isOneRecord) await recordApproval({ input, state, revision: change });
      else await recordApart(input, state, change);
      recorded = change;
      if (state.status === 'pending') await untilChangedOrExpired(input, state, () => changes > change, changed);
    }
    await notifyRun(input);
    await condition(allHandlersFinished);
  });
  return state;
}

async function recordApart(input: ApprovalInput, state: ApprovalState, revision: number): Promise<void> {
  if (state.status === 'approved') await mintResumeToken(tokenRequest(input, state));
  await publishApproval({ input, state, revision });
}

function tokenRequest(input: ApprovalInput, state: ApprovalState) {
  const { decided_at, edited_payload_digest } = state;
  return {
    input,
    approved_at: decided_at ?? epochSeconds(),
    ...(edited_payload_digest !== undefined && { edited_payload_digest }),
    ...(state.accepted && { is_accepted: true as const }),
    ...(isClockStopped(state) && { is_clock_stopped: true as const }),
  };
}

/** Only wakes the run, which reads the decision itself. Ignores a run that has ended. */
async function notifyRun({ execution_id, approval_id }: ApprovalInput): Promise<void> {
  if (execution_id === undefined) return;
  await getExternalWorkflowHandle(executionWorkflowId(execution_id))
    .signal(approvalSettledSignal, approval_id)
    .catch(() => undefined);
}

/** @throws ApplicationFailure for a vote that does not count */
function refuse(input: ApprovalInput, state: ApprovalState, request: DecideRequest | undefined): void {
  const refusal = refusalOf(input, state, request, epochSeconds());
  if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.type, { status: state.status });
}

/** Waits for a vote while the approval is pending, and expires it at its time limit. */
async function untilChangedOrExpired(
  input: ApprovalInput,
  state: ApprovalState,
  hasChanged: () => boolean,
  changed: () => void,
): Promise<void> {
  if (isClockStopped(state)) return condition(hasChanged);
  const leftMs = Math.max(1, Math.ceil((expiryOf(input, state) - epochSeconds()) * 1000));
  const voted = await condition(hasChanged, leftMs, { summary: 'the approval expires' });
  if (voted || state.status !== 'pending') return;
  settle(state, 'expired', null, epochSeconds());
  changed();
}
