import { AppError, isAppError } from '../../errors.js';
import { currentTrace } from '../../http/trace.js';
import { newId } from '../../ids.js';
import { factsOfRefusal } from '../../governance/kernel/call.js';
import type { Performed } from '../../governance/kernel/perform.js';
import type { ActRecord } from '../../governance/lifecycles/record.js';
import { isOutboundError, type OutboundCode } from '../../outbound/outbound-error.js';
import { epochSeconds } from '../../time.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { ActRun, Held, Refused } from '../../../workflows/agentflow-execution/act-messages.js';
import type { SecretBox } from '../../auth/secret-box.js';
import type { Deps } from '../deps.js';
import { principalOfRun } from '../../auth/run-principal.js';
import { keepAnswer, keptAnswer } from './act-answers.js';
import { factsOfAct, inputOfAct } from './act-input.js';
import type { PrepareAction, PreparedAction } from './call-action.js';

/** How an act ended for its run: with an answer, waiting for an approval, or refused. */
export type ActResult = { output: unknown } | { held: Held } | { refused: Refused };
export type Act = (request: CallActionRequest, options: { signal: AbortSignal }) => Promise<ActResult>;

export interface ActDeps {
  kernel: Deps['kernel'];
  collections: Deps['mongo']['collections'];
  secrets: Pick<SecretBox, 'seal' | 'open'>;
  prepare: PrepareAction;
}

/**
 * Performs an action of an agent as a governed operation, by the run on behalf of the person who started it. A refusal is a
 * result, because the agent receives it.
 * @throws the errors of the action itself: its step is retried or fails
 */
export function createAct(deps: ActDeps): Act {
  return async (request, { signal }) => {
    const prepared = await deps.prepare(request, { signal });
    const act: OneAct = { request, run: request.run ?? (await runOf(deps, request)), prepared };
    const under = request.approval;
    if (!under) return first(deps, act);
    const kept = await keptAnswer(deps, under.approval_id);
    if (kept) return kept;
    // Also where the rules have changed since, and would permit it now.
    if (await isUsed(deps, under)) return askAgain(deps, act);
    const { performed, sent } = await attempt(deps, act, under.approval_id);
    signal.throwIfAborted();
    if (sent.mayHaveActed) return askAgain(deps, act);
    if (!('error' in performed)) return resultOf(performed);
    switch (reasonOf(performed.error)) {
      case 'rejected':
      case 'expired':
        return { refused: await settledAs(deps, under, performed.error) };
      case 'used':
        // By another attempt, just now.
        return askAgain(deps, act);
      case undefined:
        return refusedOr(performed.error);
      default:
        return hasExpired(deps, under.approval_id).then((expired) =>
          expired ? { refused: refusedFor(under, 'approval_expired', 'nobody decided in time') } : first(deps, act),
        );
    }
  };
}

/** The worker of an earlier attempt was lost during the call, or after it. */
async function isUsed({ collections }: Pick<ActDeps, 'collections'>, { approval_id }: Under): Promise<boolean> {
  const token = await collections.resume_tokens.findOne({ approval_id });
  return token !== null && token.used_at !== null;
}

interface OneAct {
  request: CallActionRequest;
  run: ActRun;
  prepared: PreparedAction;
}

async function first(deps: ActDeps, act: OneAct): Promise<ActResult> {
  const { performed } = await attempt(deps, act, undefined);
  return 'error' in performed ? refusedOr(performed.error) : resultOf(performed);
}

/**
 * The approved call may have taken effect, but its answer was lost. It is not repeated unless a person decides so: a new
 * approval asks for it.
 */
async function askAgain(deps: ActDeps, act: OneAct): Promise<ActResult> {
  const { performed } = await attempt(deps, act, undefined, true);
  const result = 'error' in performed ? refusedOr(performed.error) : resultOf(performed);
  if ('held' in result) return { held: { ...result.held, after_unknown: true } };
  return 'refused' in result ? { refused: { ...result.refused, code: 'outcome_unknown' } } : result;
}

/** What became of the call itself. */
interface Sent {
  outcome: 'unsent' | 'answered' | 'unknown';
  /** A repeat could do it twice. */
  mayHaveActed: boolean;
}

async function attempt(
  deps: ActDeps,
  { request, run, prepared }: OneAct,
  approvalId: string | undefined,
  isUnknown = false,
): Promise<{ performed: Performed; sent: Sent }> {
  const sent: Sent = { outcome: 'unsent', mayHaveActed: false };
  const { operation } = prepared;
  const identity = {
    executionId: run.execution_id,
    userId: run.executed_by,
    organizationId: run.organization_id,
    projectId: request.project_id,
  };
  const performed = await deps.kernel.perform({
    lifecycleId: newId(),
    startedAt: epochSeconds(),
    operation,
    asked: undefined,
    name: operation.name,
    channel: 'agent',
    traceId: currentTrace().traceId,
    resumeToken: undefined,
    approvalId,
    alwaysRecorded: false,
    authenticate: () => principalOfRun(deps.collections, identity, ['svc:agent.run']),
    resolveScope: async (principal) => principal,
    admit: async () => undefined,
    validate: async () => ({
      input: inputOfAct(request, run, prepared),
      resource: { type: 'act', id: request.idempotency_key },
      dryRun: false,
      lookUp: async () => ({ facts: factsOfAct(run, prepared) }),
      shows: async () => ({
        agentflow: run.agentflow_name,
        agent: run.agent_title,
        goal: request.context.goal,
        ...(isUnknown && { outcome: 'unknown: the call was approved and sent, but its answer was lost' }),
      }),
      acted: (status): ActRecord => ({ idempotency_key: request.idempotency_key, outcome: outcomeOf(status, sent) }),
      keepsApproval: () => sent.mayHaveActed,
      async run({ recordId }) {
        if (isUnknown && recordId === undefined)
          throw new AppError('approval_refused', 'the call may have taken effect, but its answer was lost');
        const output = await send(prepared, sent);
        if (approvalId !== undefined) await keepAnswer(deps, approvalId, output);
        return { body: output };
      },
    }),
  });
  return { performed, sent };
}

/** Errors after which nobody knows whether the call took effect. */
const lost: ReadonlySet<OutboundCode> = new Set(['timeout', 'unreachable', 'outcome_unknown']);

async function send(prepared: PreparedAction, sent: Sent): Promise<unknown> {
  // Also what it stays if the worker shuts down during the call.
  Object.assign(sent, { outcome: 'unknown', mayHaveActed: !prepared.isRepeatable });
  try {
    const output = await prepared.send();
    Object.assign(sent, { outcome: 'answered', mayHaveActed: false });
    return output;
  } catch (error) {
    const isLost = isOutboundError(error) && lost.has(error.code);
    const isAnswered = isAppError(error) || (isOutboundError(error) && !isLost);
    if (isAnswered) Object.assign(sent, { outcome: 'answered', mayHaveActed: false });
    else if (isLost && error.isUnsent) Object.assign(sent, { outcome: 'unsent', mayHaveActed: false });
    throw error;
  }
}

function outcomeOf(status: string, sent: Sent): ActRecord['outcome'] {
  if (status === 'denied') return 'refused';
  return status === 'pending_approval' ? 'held' : sent.outcome;
}

function resultOf(performed: Exclude<Performed, { error: unknown }>): ActResult {
  const { status, body } = performed.ending;
  if (status !== 'pending_approval') return { output: body };
  const { approval_id, expires_at } = body as Held;
  return { held: { approval_id, expires_at } };
}

/** @throws the error, if it is not a refusal by the rules */
function refusedOr(error: unknown): ActResult {
  const code = isAppError(error) ? error.code : undefined;
  if (!isAppError(error) || (code !== 'policy_denied' && code !== 'approval_refused')) throw error;
  const rules = factsOfRefusal(error)?.call.decision?.policy_ids ?? [];
  const by = rules.length > 0 ? ` (${rules.join(', ')})` : '';
  return { refused: { code, message: `${error.message}${by}` } };
}

function reasonOf(error: unknown): string | undefined {
  return factsOfRefusal(error)?.reason;
}

type Under = NonNullable<CallActionRequest['approval']>;

async function settledAs(
  { collections }: Pick<ActDeps, 'collections'>,
  under: Under,
  error: unknown,
): Promise<Refused> {
  if (reasonOf(error) === 'expired') return refusedFor(under, 'approval_expired', 'nobody decided in time');
  const record = await collections.approvals.findOne({ _id: under.approval_id });
  const comment = record?.votes.find(({ decision }) => decision === 'reject')?.comment ?? '';
  return refusedFor(under, 'approval_rejected', comment || 'a person rejected the call');
}

function refusedFor({ after_unknown }: Under, code: string, message: string): Refused {
  return after_unknown
    ? { code: 'outcome_unknown', message: `the call may have taken effect, and it was not repeated: ${message}` }
    : { code, message };
}

async function hasExpired({ collections }: Pick<ActDeps, 'collections'>, approvalId: string): Promise<boolean> {
  const record = await collections.approvals.findOne({ _id: approvalId });
  return record?.status === 'pending' && record.expires_at <= epochSeconds();
}

/** For a step that an earlier release scheduled: what its request does not say is in the execution's record. */
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
