import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { StepAttempt, StepRecord } from '../../../workflows/agentflow-execution/step-record.js';
import type { Deps } from '../deps.js';
import { pick } from '../../base/pick.js';
import { isWorkflowGone } from '../../temporal/client.js';
import type { LiveExecution } from './operations/read.js';
import type { Execution } from './record.js';

type Pending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/** Temporal's information about the current step: its attempts, the last error, and the time of the next attempt. */
interface PendingStep {
  attempts: number;
  error: string | null;
  next_attempt_at: number | null;
  attempt_details: StepAttempt[];
}

export async function describeRun(
  deps: Pick<Deps, 'temporal'>,
  id: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await deps.temporal.call((client) => client.workflow.getHandle(executionWorkflowId(id)).describe());
  } catch (error) {
    if (isWorkflowGone(error)) return undefined;
    throw error;
  }
}

/** Steps run one at a time, so the current step is the only pending activity that does not publish the record. */
export async function pendingStep(
  { temporal }: Pick<Deps, 'temporal'>,
  description: WorkflowExecutionDescription | undefined,
): Promise<PendingStep | undefined> {
  const pending = description?.raw.pendingActivities?.find(
    ({ activityType }) => activityType?.name !== 'publishExecution',
  );
  if (!pending) return undefined;
  const { loadedDataConverter } = temporal.client.options;
  const [failure, details] = await Promise.all([
    decodeOptionalFailureToOptionalError(loadedDataConverter, pending.lastFailure),
    decodeArrayFromPayloads(loadedDataConverter, pending.heartbeatDetails?.payloads),
  ]);
  const [attempts] = details;
  const attempt_details = Array.isArray(attempts) ? (attempts as StepAttempt[]) : [];
  // After many attempts, their list makes the failure larger than the limit of the server, which then stores its own failure.
  const listed = pending.lastFailure?.serverFailureInfo && attempt_details.findLast(({ error }) => error !== null);
  return {
    attempts: pending.attempt ?? 1,
    error: listed?.error ?? failure?.message ?? null,
    next_attempt_at: secondsOf(pending.nextAttemptScheduleTime),
    attempt_details,
  };
}

function secondsOf(time: Pending['nextAttemptScheduleTime']): number | null {
  return time?.seconds ? Number(time.seconds) + (time.nanos ?? 0) / 1e9 : null;
}

export function withPending(step: StepRecord, pending: PendingStep | undefined): StepRecord {
  if (step.status === 'waiting' ? !pending : step.status !== 'running') return step;
  if (!pending) return { ...step, attempts: 1 };
  const { attempts, error, attempt_details } = pending;
  return { ...step, attempts, error, ...(attempt_details.length > 0 && { attempt_details }) };
}

/** Adds `waiting_for` to an execution whose current step is being retried: the step, the error and the next attempt. */
export async function withWaitingStep(
  deps: Pick<Deps, 'temporal'>,
  execution: Execution,
  { live, run }: Pick<LiveExecution, 'live' | 'run'>,
): Promise<Execution> {
  const step = live?.steps.at(-1);
  if (step?.status !== 'running' || execution.execution_context.waiting_for) return execution;
  const pending = await pendingStep(deps, run).catch(() => undefined);
  if (!pending || pending.error === null) return execution;
  const reason = pick(pending, 'attempts', 'error', 'next_attempt_at');
  const waiting_for = { kind: 'step', ...pick(step, 'step_id', 'agent_id', 'name'), ...reason };
  return { ...execution, execution_context: { ...execution.execution_context, waiting_for } };
}
