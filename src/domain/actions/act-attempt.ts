import { AppError, isAppError, isRefusal } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { editedInput } from '../../governance/approvals/edits.js';
import type { Performed } from '../../governance/kernel/perform.js';
import type { ActRecord } from '../../governance/lifecycles/record.js';
import { isOutboundError, type OutboundCode } from '../../outbound/outbound-error.js';
import { keepAnswer, type ActAnswer } from './act-answers.js';
import type { PreparedAct } from './act-edits.js';
import type { OnRedirect } from './action-call.js';
import { editableOf, factsOfAct, factsOfRedirect, inputOfAct, summaryOfAct } from './act-input.js';
import type { PreparedAction } from './call-action.js';
import { performAsRun, type RunCallDeps } from './operations/calls-of-runs.js';

export interface AttemptDeps extends RunCallDeps {
  secrets: Pick<SecretBox, 'seal' | 'open'>;
}

interface AttemptOptions {
  approvalId?: string;
  /** The call was sent before, and its answer was lost. */
  isUnknown?: boolean;
  /** What the agent receives if a person accepted the call as done. */
  accepted?: unknown;
}

/** What happened to the call itself. */
interface Sent {
  outcome: 'unsent' | 'answered' | 'unknown' | 'accepted';
  /** A repeat could cause the effect twice. */
  mayHaveActed: boolean;
  /** The receiver refused it permanently. */
  isRefusedForGood?: boolean;
}

export interface PerformedAct {
  performed: Performed;
  sent: Sent;
}

/** Takes the call through the kernel once. */
export async function attemptAct(
  deps: AttemptDeps,
  { request, run, prepared, edited, note }: PreparedAct,
  { approvalId, isUnknown = false, accepted }: AttemptOptions,
): Promise<PerformedAct> {
  const sent: Sent = { outcome: 'unsent', mayHaveActed: false };
  const { operation } = prepared;
  const lifecycleId = newId();
  note?.({ lifecycle_id: lifecycleId });
  const step = { ...request, run };
  const performed = await performAsRun(deps, step, {
    ...{ lifecycleId, operation, approvalId },
    resource: { type: 'act', id: request.idempotency_key },
    facts: factsOfAct(request, prepared),
    check: () => ({
      input: inputOfAct(request, run, prepared),
      ...(edited && { digested: editedInput(edited) }),
      summary: () => summaryOfAct(request, prepared),
      editable: editableOf(request, prepared),
      afterUnknown: isUnknown,
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
      keepsApproval: () => sent.mayHaveActed || sent.isRefusedForGood === true,
      async run({ recordId, recheck }) {
        if (isUnknown && accepted === undefined && recordId === undefined)
          throw new AppError('approval_refused', 'no rule requires an approval any more');
        if (accepted !== undefined) sent.outcome = 'accepted';
        const output =
          accepted ??
          (await send(prepared, sent, (to, method) =>
            recheck(`a redirect to ${to.host}`, factsOfRedirect(to, method)),
          ));
        const answer: ActAnswer = { output, ...(edited && { edits: edited.edits }) };
        if (approvalId !== undefined) await keepAnswer(deps, approvalId, answer);
        sent.mayHaveActed = false;
        return { body: answer };
      },
    }),
  });
  return { performed, sent };
}

/** An error that a repeat cannot resolve, for example because the connector was deleted. */
export function isFinal(error: unknown): error is Error {
  if (isOutboundError(error)) return !error.retryable;
  return isRefusal(error) || (isAppError(error) && error.code === 'unconfigured');
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
    sent.isRefusedForGood = outcome === 'answered' && isFinal(error);
    throw error;
  }
}

function outcomeOf(status: string, sent: Sent): ActRecord['outcome'] {
  if (status === 'denied' && sent.outcome === 'unsent') return 'refused';
  return status === 'pending_approval' ? 'held' : sent.outcome;
}
