import { AppError, isAppError, isRefusal } from '../../errors.js';
import { newId } from '../../ids.js';
import { editedInput, keepEdits } from '../../governance/approvals/edits.js';
import { endHeldCalls, settleApproval } from '../../governance/approvals/settle.js';
import type { Performed } from '../../governance/kernel/perform.js';
import type { ActRecord } from '../../governance/lifecycles/record.js';
import { isOutboundError, type OutboundCode } from '../../outbound/outbound-error.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { ActRun, Held, Refused } from '../../../workflows/agentflow-execution/act-messages.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { creditsOfRun } from '../customers/operations/run-credits.js';
import { keepAnswer, keptAnswer, type ActAnswer } from './act-answers.js';
import { asEdited, type EditedAct } from './act-edits.js';
import type { OnRedirect } from './action-call.js';
import { editableOf, factsOfAct, factsOfTarget, inputOfAct } from './act-input.js';
import type { CallOptions, PrepareAction, PreparedAction } from './call-action.js';
import {
  expiredCall,
  hasExpired,
  notRepeated,
  performAsRun,
  reasonOf,
  refusedOr,
  settledAs,
  type RunCallDeps,
} from './operations/calls-of-runs.js';

/** How an act ended for its run: with an answer, waiting for an approval, or refused. */
export type ActResult = ActAnswer | { held: Held } | { refused: Refused };
export type Act = (request: CallActionRequest, options: CallOptions) => Promise<ActResult>;

export interface ActDeps extends RunCallDeps {
  secrets: Pick<SecretBox, 'seal' | 'open'>;
  prepare: PrepareAction;
}

/**
 * Performs an action of an agent as a governed operation of the run, on behalf of the person who started it. A refusal is a
 * result, because the agent receives it.
 * @throws the errors of the action itself: its step is retried or fails
 */
export function createAct(deps: ActDeps): Act {
  return async (request, options) => {
    const { signal } = options;
    const run = request.run ?? (await runOf(deps, request));
    const prepared = async (): Promise<OneAct> => {
      return { request, run, prepared: await deps.prepare(request, options), note: options.note };
    };
    const under = request.approval;
    if (!under) return first(deps, await prepared());
    const kept = await keptAnswer(deps, under.approval_id);
    if (kept) {
      await settleUsed(deps, under);
      return kept;
    }
    const token = await deps.collections.resume_tokens.findOne({ approval_id: under.approval_id });
    // The worker of an earlier attempt was lost during or after the call. S6 would refuse to use the approval again.
    const isUsed = token !== null && token.used_at !== null;
    const isUnknown = isUsed || under.after_unknown === true;
    const accepted = token?.is_accepted ? await acceptedAnswer(deps, under) : undefined;
    // An earlier attempt recorded that a person accepted the call as done, so nothing is sent.
    if (isUsed && accepted !== undefined) return { output: accepted };
    let act: OneAct;
    try {
      act = await asEdited(deps, await prepared(), { under, token, options });
    } catch (error) {
      if (isUnknown && isFinal(error)) return settleWithoutCall(deps, under, { accepted, error });
      throw error;
    }
    const { performed, sent } = await attempt(deps, act, { approvalId: under.approval_id, isUnknown, accepted });
    signal.throwIfAborted();
    if (sent.mayHaveActed) return askAgain(deps, act);
    if (sent.isOver) await settleUsed(deps, under);
    if (!('error' in performed)) return resultOf(deps, act, performed);
    const reason = reasonOf(performed.error);
    if (isUsed && reason !== undefined) return askAgain(deps, act);
    // A person approved it, but no attempt used the approval before it expired.
    const hasLapsed = reason === 'expired' && token !== null;
    const again = async () => endReplaced(deps, under, await (isUnknown ? askAgain(deps, act) : first(deps, act)));
    if (hasLapsed) return again();
    switch (reason) {
      case 'rejected':
      case 'expired':
        return { refused: await settledAs(deps.collections, under, performed.error) };
      case 'used':
        // Another attempt has just used the approval.
        return askAgain(deps, act);
      case undefined:
        return isUnknown ? asUnknown(refusedOr(performed.error)) : refusedOr(performed.error);
      default:
        if (await hasExpired(deps.collections, under.approval_id)) return { refused: expiredCall(under) };
        return again();
    }
  };
}

/** Ends the calls that the approval held, unless the run still waits for it. */
async function endReplaced({ collections }: ActDeps, { approval_id }: Under, result: ActResult): Promise<ActResult> {
  const waits = 'held' in result && result.held.approval_id === approval_id;
  if (!waits) await endHeldCalls(collections.lifecycles, approval_id, { status: 'denied' });
  return result;
}

/** An error that a repeat cannot resolve, for example because the connector was deleted. */
function isFinal(error: unknown): error is Error {
  if (isOutboundError(error)) return !error.retryable;
  return isRefusal(error) || (isAppError(error) && error.code === 'unconfigured');
}

/** For a call that was sent before and can no longer be made. An acceptance or a rejection by a person still applies. */
async function settleWithoutCall(
  deps: ActDeps,
  under: Under,
  { accepted, error }: { accepted: unknown; error: Error },
): Promise<ActResult> {
  await settleUsed(deps, under);
  if (accepted === undefined) return { refused: await notRepeated(deps.collections, under, error) };
  await endHeldCalls(deps.collections.lifecycles, under.approval_id, { status: 'completed' });
  return { output: accepted };
}

/** Settles an approval that an attempt used and did not settle, because its worker or its answer was lost. */
async function settleUsed({ collections }: Pick<ActDeps, 'collections'>, { approval_id }: Under): Promise<void> {
  const token = await collections.resume_tokens.findOne({ approval_id });
  if (token?.used_by)
    await settleApproval(collections, { tokenId: token._id, lifecycleId: token.used_by, completed: true });
}

interface OneAct extends EditedAct {
  run: ActRun;
  note: CallOptions['note'];
}

async function first(deps: ActDeps, act: OneAct): Promise<ActResult> {
  const { performed } = await attempt(deps, act, {});
  return 'error' in performed ? refusedOr(performed.error) : resultOf(deps, act, performed);
}

/**
 * The approved call may have taken effect, but its answer was lost. It is repeated only if a person approves that, so this
 * requests a new approval.
 */
async function askAgain(deps: ActDeps, act: OneAct): Promise<ActResult> {
  if (act.request.approval) await settleUsed(deps, act.request.approval);
  const { performed } = await attempt(deps, act, { isUnknown: true });
  const result = 'error' in performed ? refusedOr(performed.error) : await resultOf(deps, act, performed);
  if ('held' in result) return { held: { ...result.held, after_unknown: true } };
  return asUnknown(result);
}

function asUnknown(result: ActResult): ActResult {
  return 'refused' in result ? { refused: { ...result.refused, code: 'outcome_unknown' } } : result;
}

/** What happened to the call itself. */
interface Sent {
  outcome: 'unsent' | 'answered' | 'unknown' | 'accepted';
  /** A repeat could cause the effect twice. */
  mayHaveActed: boolean;
  /** The receiver refused it permanently. */
  isOver?: boolean;
}

interface Attempting {
  approvalId?: string;
  /** The call was sent before, and its answer was lost. */
  isUnknown?: boolean;
  /** What the agent receives if a person accepted the call as done. */
  accepted?: unknown;
}

async function attempt(
  deps: ActDeps,
  { request, run, prepared, edited, note }: OneAct,
  { approvalId, isUnknown = false, accepted }: Attempting,
): Promise<{ performed: Performed; sent: Sent }> {
  const sent: Sent = { outcome: 'unsent', mayHaveActed: false };
  const { operation } = prepared;
  const lifecycleId = newId();
  note?.({ lifecycle_id: lifecycleId });
  const step = { ...request, run };
  const performed = await performAsRun(deps, step, {
    ...{ lifecycleId, operation, approvalId },
    validate: async () => ({
      input: inputOfAct(request, run, prepared),
      ...(edited && { digested: editedInput(edited) }),
      editable: editableOf(request, prepared),
      afterUnknown: isUnknown,
      resource: { type: 'act', id: request.idempotency_key },
      dryRun: false,
      lookUp: async () => ({ facts: factsOfAct(run, prepared, await creditsOfRun(deps.collections, run)) }),
      approvalContext: async () => ({
        agentflow: run.agentflow_name,
        agent: run.agent_title,
        goal: request.context.goal,
        ...(isUnknown && { outcome: 'unknown: the call was approved and sent, but its answer was lost' }),
      }),
      actRecord: (status): ActRecord => ({
        idempotency_key: request.idempotency_key,
        outcome: outcomeOf(status, sent),
      }),
      keepsApproval: () => sent.mayHaveActed || sent.isOver === true,
      async run({ recordId, recheck }) {
        if (isUnknown && accepted === undefined && recordId === undefined)
          throw new AppError('approval_refused', 'the call may have taken effect, but its answer was lost');
        if (accepted !== undefined) sent.outcome = 'accepted';
        const output =
          accepted ?? (await send(prepared, sent, (to) => recheck(`a redirect to ${to.host}`, factsOfTarget(to))));
        const answer: ActAnswer = { output, ...(edited && { edits: edited.edits }) };
        if (approvalId !== undefined) await keepAnswer(deps, approvalId, answer);
        sent.mayHaveActed = false;
        return { body: answer };
      },
    }),
  });
  return { performed, sent };
}

/** Errors after which it is unknown whether the call took effect. */
const lost: ReadonlySet<OutboundCode> = new Set(['timeout', 'unreachable', 'outcome_unknown']);
/** A gateway answers when it did not get the answer of the receiver (RFC 9110, 15.6.3 and 15.6.5). */
const ofGateways: ReadonlySet<number | undefined> = new Set([502, 504]);

function outcomeAfter(error: unknown): Sent['outcome'] {
  if (!isOutboundError(error)) return isAppError(error) ? 'answered' : 'unknown';
  if (error.isUnsent) return 'unsent';
  return lost.has(error.code) || ofGateways.has(error.status) ? 'unknown' : 'answered';
}

async function send(prepared: PreparedAction, sent: Sent, onRedirect: OnRedirect): Promise<unknown> {
  // The outcome also stays `unknown` if the worker shuts down during the call.
  Object.assign(sent, { outcome: 'unknown', mayHaveActed: !prepared.isRepeatable });
  try {
    const output = await prepared.send(onRedirect);
    // Until the answer is stored, a repeat could cause the effect twice.
    sent.outcome = 'answered';
    return output;
  } catch (error) {
    const outcome = outcomeAfter(error);
    if (outcome !== 'unknown') Object.assign(sent, { outcome, mayHaveActed: false });
    sent.isOver = outcome === 'answered' && isFinal(error);
    throw error;
  }
}

function outcomeOf(status: string, sent: Sent): ActRecord['outcome'] {
  if (status === 'denied' && sent.outcome === 'unsent') return 'refused';
  return status === 'pending_approval' ? 'held' : sent.outcome;
}

async function resultOf(
  deps: ActDeps,
  { edited }: OneAct,
  performed: Exclude<Performed, { error: unknown }>,
): Promise<ActResult> {
  const { status, body } = performed.ending;
  if (status !== 'pending_approval') return body as ActAnswer;
  const { approval_id, expires_at } = body as Held;
  if (edited) await keepEdits(deps, approval_id, edited);
  return { held: { approval_id, expires_at, ...(edited && { is_edited: true }) } };
}

type Under = NonNullable<CallActionRequest['approval']>;

/** What the agent receives instead of the answer that was lost. */
async function acceptedAnswer({ collections }: Pick<ActDeps, 'collections'>, { approval_id }: Under): Promise<unknown> {
  const record = await collections.approvals.findOne({ _id: approval_id });
  const comment = record?.votes.find(({ decision }) => decision === 'accept')?.comment ?? '';
  return { accepted_as_done: true, message: comment || 'a person accepted the call as done; its answer was lost' };
}

/** For a step that an earlier release scheduled: the execution's record contains what the request lacks. */
async function runOf({ collections }: Pick<ActDeps, 'collections'>, request: CallActionRequest): Promise<ActRun> {
  const [execution_id = ''] = request.idempotency_key.split('/', 1);
  const record = await collections.executions.findOne({ _id: execution_id });
  if (!record) throw new AppError('not_found', 'the execution of this action was not found');
  return {
    execution_id,
    organization_id: record.organization_id,
    agentflow_id: record.agentflow_id,
    agentflow_name: record.agentflow.name,
    agentflow_version: record.flow?.agentflow_version ?? 0,
    agent_id: '',
    agent_title: '',
    executed_by: record.executed_by._id,
    started_by: record.flow?.started_by ?? 'person',
    tokens_spent: 0,
  };
}
