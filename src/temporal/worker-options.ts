import type { WorkerOptions } from '@temporalio/worker';
import type { WorkerConfig } from './environment.js';

/** The SDK's own beginning of a scale that moves. */
const firstPollers = 5;

/**
 * What of a worker the configuration decides. A versioned worker gets tasks only once its version is current or ramping;
 * runs go on with whichever version is current then (decision 0046).
 */
export function workerTuning({ workflowTasks, activities, pollers, cachedWorkflows, version }: WorkerConfig): Partial<WorkerOptions> {
  const scale = pollers === undefined ? undefined : ({ type: 'autoscaling', minimum: 1, initial: Math.min(firstPollers, pollers), maximum: pollers } as const);
  return {
    maxConcurrentWorkflowTaskExecutions: workflowTasks,
    maxConcurrentActivityTaskExecutions: activities,
    ...(scale && { workflowTaskPollerBehavior: scale, activityTaskPollerBehavior: scale }),
    ...(cachedWorkflows !== undefined && { maxCachedWorkflows: cachedWorkflows }),
    ...(version && { workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'AUTO_UPGRADE' } }),
  };
}
