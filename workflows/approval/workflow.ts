import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
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

/**
 * Holds one call until enough people approved it, one rejected it, or its time is over (design, S6). Cancelling the
 * run in Temporal rejects the call.
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
      const result = applyVote(input, state, request, epochSeconds());
      changed();
      const change = changes;
      // The answer means that readers see it, and that the resume token is there.
      await condition(() => recorded >= change);
      return result;
    },
    {
      validator: (request: DecideRequest | undefined) => {
        const refusal = refusalOf(input, state, request, epochSeconds());
        if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.type, { status: state.status });
      },
    },
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
      if (state.status === 'approved') await mintResumeToken({ input, approved_at: state.decided_at ?? epochSeconds() });
      await publishApproval({ input, state, revision: change });
      recorded = change;
      if (state.status === 'pending') await untilChangedOrExpired(input, state, () => changes > change, changed);
    }
    await condition(allHandlersFinished);
  });
  return state;
}

/** Waits for a vote while the approval is pending; past its time it expires. */
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
