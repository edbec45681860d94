import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { attributePairs } from '../../workflows/search-attributes.js';
import type { Temporal } from './client.js';

/**
 * Starts a workflow, unless one with this id runs or, by default, has ever run. Safe to repeat.
 * @returns whether this call started it
 * @throws AppError `unavailable`
 */
export async function startOnce(
  temporal: Pick<Temporal, 'call' | 'taskQueue'>,
  workflowType: string,
  options: Omit<WorkflowStartOptions, 'taskQueue'>,
): Promise<boolean> {
  const { taskQueue } = temporal;
  const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
  try {
    await temporal.call((client) =>
      client.workflow.start(workflowType, { taskQueue, workflowIdReusePolicy, ...options }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

interface ProjectWork {
  type: string;
  workflowId: string;
  summary: string;
  input: { project_id: string; organization_id: string };
}

/**
 * Starts the work of a project unless it is already running. The work may run repeatedly, but never concurrently.
 * @returns whether this call started it
 */
export function startProjectWork(
  temporal: Pick<Temporal, 'call' | 'taskQueue'>,
  { type, workflowId, summary, input }: ProjectWork,
): Promise<boolean> {
  return startOnce(temporal, type, {
    workflowId,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    args: [input],
    memo: { project: input.project_id },
    staticSummary: summary,
    typedSearchAttributes: attributePairs({ projectId: input.project_id, organizationId: input.organization_id }),
  });
}
