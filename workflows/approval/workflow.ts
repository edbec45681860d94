import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  getExternalWorkflowHandle,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { approvalSettledSignal, executionWorkflowId } from '../agentflow-execution/messages.js';
import { epochSeconds } from '../time.js';
import type { ApprovalActivities } from './activities.js';
import { decideUpdate, stateQuery, type ApprovalInput, type ApprovalState, type DecideRequest } from './messages.js';
import { applyVote, detailsOf, initialState, refusalOf, settle } from './state.js';

const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;
const { publishApproval } = proxyActivities<Pick<ApprovalActivities, 'publishApproval'>>({
  startToCloseTimeout: '10s',
  retry,
  summary: 'write the approval record',
});
const { mintResumeToken } = proxyActivities<Pick<ApprovalActivities, 'mintResumeToken'>>({
  startToCloseTimeout: '10s',
  retry,
  summary: 'mint the resume token',
});

const { verifyDecision } = proxyLocalActivities<Pick<ApprovalActivities, 'verifyDecision'>>({
  startToCloseTimeout: '10s',
  retry,
});

/**
 * Holds one call until enough people have approved it, one has rejected it, or it expires (design, S6). Cancelling the run in
 * Temporal rejects the call.
 */
export async function approval(input: ApprovalInput): Promise<ApprovalState> {
  const state = initialState();
  let changes = 1;
  let recorded = 0;
  const changed = () => {
    changes += 1;
    setCurrentDetails(detailsOf(input, state));
  };

  setHandler(stateQuery, () => state);
  setHandler(
    decideUpdate,
    async (request) => {
      if (patched('signed-decisions')) {
        await verifyDecision({ approval_id: input.approval_id, request });
        // Another vote may have been counted in the meantime.
        refuse(input, state, request);
      }
      const result = applyVote(input, state, request, epochSeconds());
      changed();
      const change = changes;
      // When the caller gets the answer, the record shows the vote and the resume token exists.
      await condition(() => recorded >= change);
      return result;
    },
    { validator: (request: DecideRequest | undefined) => refuse(input, state, request) },
  );
  void CancellationScope.current().cancelRequested.catch(() => {
    if (state.status !== 'pending') return;
    settle(state, 'rejected', 'operator', epochSeconds());
    changed();
  });
  setCurrentDetails(detailsOf(input, state));

  await CancellationScope.nonCancellable(async () => {
    while (recorded < changes) {
      const change = changes;
      if (state.status === 'approved')
        await mintResumeToken({ input, approved_at: state.decided_at ?? epochSeconds() });
      await publishApproval({ input, state, revision: change });
      recorded = change;
      if (state.status === 'pending') await untilChangedOrExpired(input, state, () => changes > change, changed);
    }
    await tellRun(input);
    await condition(allHandlersFinished);
  });
  return state;
}

/** Only wakes the run: it reads the decision itself. A run that has ended is not told. */
async function tellRun({ execution_id, approval_id }: ApprovalInput): Promise<void> {
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
  { expires_at }: ApprovalInput,
  state: ApprovalState,
  hasChanged: () => boolean,
  changed: () => void,
): Promise<void> {
  const leftMs = Math.max(1, Math.ceil((expires_at - epochSeconds()) * 1000));
  const voted = await condition(hasChanged, leftMs, { summary: 'the approval expires' });
  if (voted || state.status !== 'pending') return;
  settle(state, 'expired', null, epochSeconds());
  changed();
}
