import { z } from 'zod';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { executionWorkflowId, type StepRecord } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { liveState, readExecution } from './read.js';

const Step = z.object({
  step_id: z.string(),
  kind: z.string(),
  agent_id: z.string(),
  skill_id: z.string().nullable(),
  action_id: z.string().nullable(),
  name: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  attempts: z.int(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  error: z.string().nullable(),
});

export const Monitoring = z
  .object({
    execution_id: z.string(),
    status: z.string(),
    workflow_id: z.string(),
    run_id: z.string().nullable().meta({ description: 'Null until the execution was started.' }),
    temporal_ui_url: z.string().nullable(),
    steps: z.array(Step),
  })
  .meta({ id: 'ExecutionMonitoring' });

/** The steps of a run, with the attempts of the one in flight as Temporal counts them. */
export async function monitor(deps: Deps, principal: Principal, id: string): Promise<z.infer<typeof Monitoring>> {
  const record = await readExecution(deps, principal, id);
  const workflowId = executionWorkflowId(id);
  const [live, description] = await Promise.all([liveState(deps, record), describe(deps, workflowId)]);
  const runId = description?.runId ?? null;
  return {
    execution_id: id,
    status: live?.status ?? record.status,
    workflow_id: workflowId,
    run_id: runId,
    temporal_ui_url: runId === null ? null : deps.temporal.uiLink(workflowId, runId),
    steps: (live?.steps ?? record.steps).map((step) => withPendingAttempts(step, description)),
  };
}

async function describe(deps: Deps, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await deps.temporal.call((client) => client.workflow.getHandle(workflowId).describe());
  } catch (error) {
    if (isWorkflowGone(error)) return undefined;
    throw error;
  }
}

/** Steps run one at a time, so the pending activity that is not a record write is the step in flight. */
function withPendingAttempts(step: StepRecord, description: WorkflowExecutionDescription | undefined): StepRecord {
  if (step.status !== 'running') return step;
  const pending = description?.raw.pendingActivities?.find(({ activityType }) => activityType?.name !== 'publishExecution');
  if (!pending) return { ...step, attempts: 1 };
  return { ...step, attempts: pending.attempt ?? 1, error: pending.lastFailure?.message ?? null };
}
