import type { ActRun, AwaitedApproval, Refused } from '../../../../workflows/agentflow-execution/act-messages.js';
import type { Grant } from '../../../auth/grants.js';
import type { Principal } from '../../../auth/principal.js';
import { principalOfRun } from '../../../auth/run-principal.js';
import { isAppError } from '../../../base/errors.js';
import { isOpen } from '../../../governance/approvals/record.js';
import { endHeldCalls, settleUsed } from '../../../governance/approvals/settle.js';
import { factsOfRefusal, type Call, type Checked, type Resource } from '../../../governance/kernel/call.js';
import type { Operation } from '../../../governance/operations/operation.js';
import { callAs } from '../../../governance/kernel/call-as.js';
import type { Kernel, Performed } from '../../../governance/kernel/perform.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../base/time.js';
import { creditsOfRun } from '../../customers/operations/run-credits.js';

export interface RunCallDeps {
  kernel: Kernel;
  collections: Collections;
}

/** The step of a run that makes the call. `approval` is the approval for which it waited. */
interface CallingStep {
  project_id: string;
  run: ActRun;
  approval?: ApprovalOfStep | undefined;
}

interface CallOfRun extends Pick<Call, 'lifecycleId' | 'approvalId'> {
  operation: Operation;
  resource: Resource;
  /** Facts for rules in addition to those about the run and those in the input. */
  facts?: Readonly<Record<string, unknown>>;
  check: () => Omit<Checked, 'resource' | 'dryRun' | 'lookUp'>;
}

const grantsOfActs = ['svc:agent.run'] as const;

/**
 * Performs an operation of a run on `resource`, on behalf of the person who started it, with that person's role. Requests
 * one approval at most.
 */
export function performAsRun(
  { kernel, collections }: RunCallDeps,
  { project_id, run, approval }: CallingStep,
  { resource, facts, check, ...call }: CallOfRun,
): Promise<Performed> {
  return kernel.perform(
    callAs(() => principalOfStep(collections, { project_id, run }), {
      ...call,
      validate: async () => ({
        ...check(),
        resource,
        dryRun: false,
        lookUp: async () => ({ facts: { ...(await factsOf(collections, run)), ...facts } }),
      }),
      entrance: 'act',
      reusesApproval: { except: approval?.approval_id },
      causedBy: () => causersOf(collections, run),
    }),
  );
}

/** The person on whose behalf the run makes a call, with the grants of a run or others. */
export function principalOfStep(
  collections: Collections,
  { project_id, run }: Pick<CallingStep, 'project_id' | 'run'>,
  grants: readonly Grant[] = grantsOfActs,
): Promise<Principal> {
  const identity = {
    executionId: run.execution_id,
    userId: run.executed_by,
    organizationId: run.organization_id,
    projectId: project_id,
  };
  return principalOfRun(collections, identity, grants);
}

async function factsOf(collections: Collections, run: ActRun) {
  const { organization_id, execution_id, part_of, started_by, tokens_spent, path = '', parents = [] } = run;
  return {
    started_by,
    tokens_spent,
    flow_path: path,
    parent_agentflows: parents,
    credits_spent: Math.ceil(
      await creditsOfRun(collections, { organization_id, execution_id: part_of ?? execution_id }),
    ),
  };
}

/** Called only if the call needs an approval. */
async function causersOf({ executions }: Pick<Collections, 'executions'>, { execution_id }: ActRun): Promise<string[]> {
  const record = await executions.findOne({ _id: execution_id }, { projection: { caused_by: 1 } });
  return record?.caused_by ?? [];
}

type Approvals = Pick<Collections, 'approvals'>;
type Settled = Pick<Collections, 'approvals' | 'lifecycles'>;
type ApprovalOfStep = Pick<AwaitedApproval, 'approval_id' | 'after_unknown'>;

/** What a run receives if rules or an approver refuse its call. @throws the error, if it is not a refusal by the rules */
export function refusedOr(error: unknown): { refused: Refused } {
  const code = isAppError(error) ? error.code : undefined;
  if (!isAppError(error) || (code !== 'policy_denied' && code !== 'approval_refused')) throw error;
  const rules = factsOfRefusal(error)?.call.decision?.policy_ids ?? [];
  const by = rules.length > 0 ? ` (${rules.join(', ')})` : '';
  return { refused: { code, message: `${error.message}${by}` } };
}

/** How a call ended for its run: with an answer, waiting for an approval, or refused. @throws as `refusedOr` */
export function outcomeOf<T>(performed: Performed): { body: T } | { held: AwaitedApproval } | { refused: Refused } {
  if ('error' in performed) return refusedOr(performed.error);
  const { status, body } = performed.ending;
  if (status !== 'pending_approval') return { body: body as T };
  const { approval_id, expires_at } = body as AwaitedApproval;
  return { held: { approval_id, expires_at } };
}

/**
 * Makes a call of a run whose only effect inside the pipeline is its record, and goes on after the decision on its approval.
 * Safe to repeat. `perform` makes the call, with the approval if it waited for one.
 */
export async function callAfterDecision(
  collections: Collections,
  approval: ApprovalOfStep | undefined,
  perform: (approvalId: string | undefined) => Promise<Performed>,
): Promise<{ body: unknown } | { held: AwaitedApproval } | { refused: Refused }> {
  if (!approval) return outcomeOf(await perform(undefined));
  const performed = await perform(approval.approval_id);
  const reason = 'error' in performed ? reasonOf(performed.error) : undefined;
  if (!('error' in performed) || reason === undefined) return outcomeOf(performed);
  if (reason === 'used') {
    await settleUsed(collections, approval.approval_id);
    return { body: null };
  }
  if (reason === 'rejected' || reason === 'expired')
    return { refused: await refusalAfterDecision(collections, approval, performed.error) };
  if (await hasExpired(collections, approval.approval_id)) return { refused: expiredCall(approval) };
  return outcomeOf(await perform(undefined));
}

/** Why S6 refused the approval; undefined for other errors. */
export function reasonOf(error: unknown): string | undefined {
  return factsOfRefusal(error)?.reason;
}

/** The refusal of a call that is not made: its approval was rejected or has expired, or `error` prevents a repeat. */
export async function refusalAfterDecision(
  { approvals, lifecycles }: Settled,
  approval: ApprovalOfStep,
  error: unknown,
): Promise<Refused> {
  // If an attempt requested the approval again after it was settled, its held call is not yet settled.
  await endHeldCalls(lifecycles, approval.approval_id, { status: 'denied' });
  if (reasonOf(error) === 'expired') return expiredCall(approval);
  const record = await approvals.findOne({ _id: approval.approval_id });
  const comment = record?.votes.find(({ decision }) => decision === 'reject')?.comment;
  return refusedFor(approval, 'approval_rejected', comment || (error instanceof Error ? error.message : ''));
}

export function expiredCall(approval: ApprovalOfStep): Refused {
  return refusedFor(approval, 'approval_expired', 'nobody decided in time');
}

function refusedFor({ after_unknown }: ApprovalOfStep, code: string, message: string): Refused {
  return after_unknown ? notRepeated(message) : { code, message };
}

/** The refusal of a call that was sent before, and whose answer was lost. */
export function notRepeated(why: string): Refused {
  return { code: 'outcome_unknown', message: `the call may have taken effect, and it was not repeated: ${why}` };
}

/** Whether the approval has expired, even if its workflow has not recorded that yet. */
export async function hasExpired({ approvals }: Approvals, approvalId: string): Promise<boolean> {
  const record = await approvals.findOne({ _id: approvalId });
  return record?.status === 'pending' && !isOpen(record, epochSeconds());
}
