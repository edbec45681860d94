import { keepEdits } from '../../governance/approvals/edits.js';
import { findWithToken } from '../../governance/approvals/earlier-records.js';
import type { ApprovalDocument } from '../../governance/approvals/record.js';
import { endHeldCalls, settleUsed } from '../../governance/approvals/settle.js';
import type { ActRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { AwaitedApproval, Refused } from '../../../workflows/agentflow-execution/act-messages.js';
import { keptAnswer, type ActAnswer } from './act-answers.js';
import { attemptAct, isFinal, type AttemptDeps, type PerformedAct } from './act-attempt.js';
import { asEdited, type PreparedAct } from './act-edits.js';
import type { CallOptions, PrepareAction } from './call-action.js';
import {
  expiredCall,
  hasExpired,
  notRepeated,
  outcomeOf,
  reasonOf,
  refusedOr,
  refusalAfterDecision,
} from './operations/calls-of-runs.js';

/** How an act ended for its run: with an answer, waiting for an approval, or refused. */
type ActResult = ActAnswer | { held: AwaitedApproval } | { refused: Refused };
export type Act = (request: ActRequest, options: CallOptions) => Promise<ActResult>;

interface ActDeps extends AttemptDeps {
  prepare: PrepareAction;
}

/**
 * Performs an action of an agent as a governed operation of the run, on behalf of the person who started it. A refusal is a
 * result, because the agent receives it.
 * @throws the errors of the action itself: its step is retried or fails
 */
export function createAct(deps: ActDeps): Act {
  return async (request, options) => {
    const prepare = async () => ({
      request,
      run: request.run,
      prepared: await deps.prepare(request, options),
      note: options.note,
    });
    return request.approval
      ? actAfterApproval(deps, await readDecision(deps, request.approval), prepare, options)
      : actWithoutApproval(deps, await prepare());
  };
}

async function actWithoutApproval(deps: ActDeps, act: PreparedAct): Promise<ActResult> {
  return resultOf(deps, act, await attemptAct(deps, act, {}));
}

type ApprovalOfStep = NonNullable<ActRequest['approval']>;

/** The approval for which the step waited, and what earlier attempts and approvers did with it. */
interface Decision {
  approval: ApprovalOfStep;
  record: ApprovalDocument | undefined;
  /** The worker of an earlier attempt was lost during or after the call. S6 would refuse to use the approval again. */
  isUsed: boolean;
  /** The call was sent before, and its answer was lost. */
  isUnknown: boolean;
  /** What the agent receives if a person accepted the call as done. */
  accepted: unknown;
}

async function readDecision({ collections }: ActDeps, approval: ApprovalOfStep): Promise<Decision> {
  const { approval_id, after_unknown } = approval;
  const record = (await findWithToken(collections, { approvalId: approval_id }))?.approval;
  const isUsed = typeof record?.token?.used_at === 'number';
  return { approval, record, isUsed, isUnknown: isUsed || after_unknown === true, accepted: acceptedAnswer(record) };
}

/** Continues a step whose act waited for an approval: finds an earlier answer, or makes the call under the approval. */
async function actAfterApproval(
  deps: ActDeps,
  decision: Decision,
  prepare: () => Promise<PreparedAct>,
  options: CallOptions,
): Promise<ActResult> {
  const { approval, isUnknown, accepted } = decision;
  const earlier = await answerOfEarlierAttempt(deps, decision);
  if (earlier) return earlier;
  let act: PreparedAct;
  try {
    act = await asEdited(deps, await prepare(), { approval, record: decision.record, options });
  } catch (error) {
    if (isUnknown && isFinal(error)) return endWithoutCall(deps, decision, error);
    throw error;
  }
  const attempted = await attemptAct(deps, act, { approvalId: approval.approval_id, isUnknown, accepted });
  options.signal.throwIfAborted();
  const { performed, sent } = attempted;
  if (sent.mayHaveActed) return askToRepeat(deps, act);
  if (sent.isRefusedForGood) await settleUsed(deps.collections, approval.approval_id);
  return 'error' in performed ? afterRefusal(deps, decision, act, performed.error) : resultOf(deps, act, attempted);
}

/** The answer that an earlier attempt stored, or that a person gave in its place. */
async function answerOfEarlierAttempt(
  deps: ActDeps,
  { approval, isUsed, accepted }: Decision,
): Promise<ActAnswer | undefined> {
  const kept = await keptAnswer(deps, approval.approval_id);
  if (kept) await settleUsed(deps.collections, approval.approval_id);
  return kept ?? (isUsed && accepted !== undefined ? { output: accepted } : undefined);
}

/** For a call that was sent before and can no longer be made. An acceptance or a rejection by a person still applies. */
async function endWithoutCall(
  { collections }: ActDeps,
  { approval, accepted }: Decision,
  error: unknown,
): Promise<ActResult> {
  await settleUsed(collections, approval.approval_id);
  if (accepted === undefined)
    return { refused: await refusalAfterDecision(collections, { ...approval, after_unknown: true }, error) };
  await endHeldCalls(collections.lifecycles, approval.approval_id, { status: 'completed' });
  return { output: accepted };
}

/** The call under the approval failed: S6 refused the approval, a rule refused the call, or the action threw `error`. */
async function afterRefusal(deps: ActDeps, decision: Decision, act: PreparedAct, error: unknown): Promise<ActResult> {
  const { approval, record, isUsed, isUnknown } = decision;
  const reason = reasonOf(error);
  if (reason === undefined) {
    const { refused } = refusedOr(error);
    return isUnknown ? endWithoutCall(deps, decision, new Error(refused.message)) : { refused };
  }
  // If not this attempt, another one has just used the approval.
  if (isUsed || reason === 'used') return askToRepeat(deps, act);
  const wasApproved = record?.token !== undefined;
  if (reason === 'rejected' || (reason === 'expired' && !wasApproved))
    return { refused: await refusalAfterDecision(deps.collections, approval, error) };
  if (reason !== 'expired' && (await hasExpired(deps.collections, approval.approval_id)))
    return { refused: expiredCall(approval) };
  const result = isUnknown ? await askToRepeat(deps, act) : await actWithoutApproval(deps, act);
  const { approval_id } = approval;
  const stillWaits = 'held' in result && result.held.approval_id === approval_id;
  if (!stillWaits) await endHeldCalls(deps.collections.lifecycles, approval_id, { status: 'denied' });
  return result;
}

/**
 * The approved call may have taken effect, but its answer was lost. It is repeated only if a person approves that, so this
 * requests a new approval.
 */
async function askToRepeat(deps: ActDeps, act: PreparedAct): Promise<ActResult> {
  if (act.request.approval) await settleUsed(deps.collections, act.request.approval.approval_id);
  const result = await resultOf(deps, act, await attemptAct(deps, act, { isUnknown: true }));
  if ('held' in result) return { held: { ...result.held, after_unknown: true } };
  return 'refused' in result ? { refused: notRepeated(result.refused.message) } : result;
}

async function resultOf(
  deps: ActDeps,
  { request, edited }: PreparedAct,
  { performed }: PerformedAct,
): Promise<ActResult> {
  const outcome = outcomeOf<ActAnswer>(performed);
  if ('body' in outcome) return outcome.body;
  if (!edited || 'refused' in outcome) return outcome;
  await keepEdits(deps, request.project_id, outcome.held.approval_id, edited);
  return { held: { ...outcome.held, is_edited: true } };
}

/** What the agent receives instead of the answer that was lost, if a person accepted the call as done. */
function acceptedAnswer(record: ApprovalDocument | undefined): unknown {
  const accepted = record?.token && record.votes.find(({ decision }) => decision === 'accept');
  if (!accepted) return undefined;
  const message = accepted.comment || 'a person accepted the call as done; its answer was lost';
  return { accepted_as_done: true, message };
}
