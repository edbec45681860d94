import type { WorkerOptions } from '@temporalio/worker';
import { queueName, type QueueKind } from '../../workflows/queues/queues.js';
import type { WorkerConfig } from './environment.js';

/** The SDK's initial value for autoscaling pollers. */
const firstPollers = 5;

/**
 * The SDK interrupts a workflow task after 5 s, measured by the clock, and Node.js may then end the whole process. A task of a
 * flow takes a tenth of a second, but much longer on a machine that is overloaded. The option is not in the SDK's types.
 */
const workflowTaskLimit = { isolateExecutionTimeout: '60s' } as const;

/** The tasks of one SDK worker of the process. */
interface QueueWorker {
  taskQueue: string;
  kind: QueueKind;
  runsWorkflows: boolean;
  /** Whether the worker polls for activities. It runs local activities in any case. */
  runsActivities: boolean;
}

/**
 * Returns the configured options for the worker of one queue. A versioned worker gets tasks only while its version is
 * current or ramping. Running workflows continue with the version that is current (decision 0006).
 */
export function workerTuning(
  config: WorkerConfig,
  { kind, runsWorkflows, runsActivities }: Omit<QueueWorker, 'taskQueue'>,
): Partial<WorkerOptions> {
  const { workflowTasks, activitiesPresent, pollers, cachedWorkflows, version } = config;
  const scale =
    pollers === undefined
      ? undefined
      : ({ type: 'autoscaling', minimum: 1, initial: Math.min(firstPollers, pollers), maximum: pollers } as const);
  const perSecond = config.perSecond[kind];
  return {
    maxConcurrentActivityTaskExecutions: activitiesPresent,
    ...(!runsActivities && { enableNonLocalActivities: false }),
    // An activity learns of its cancellation from the response to a heartbeat. The SDK sends heartbeats at most this
    // often.
    maxHeartbeatThrottleInterval: '1s',
    // This limit counts polls. With it, the SDK does not request activities in its responses to workflow tasks.
    ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }),
    ...(scale && { activityTaskPollerBehavior: scale }),
    ...(version && {
      workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'AUTO_UPGRADE' },
    }),
    ...(runsWorkflows && {
      ...workflowTaskLimit,
      maxConcurrentWorkflowTaskExecutions: workflowTasks,
      // How long a workflow waits for the worker that has it in memory, which may be lost, before another one takes it.
      stickyQueueScheduleToStartTimeout: '5s',
      ...(scale && { workflowTaskPollerBehavior: scale }),
      ...(cachedWorkflows !== undefined && { maxCachedWorkflows: cachedWorkflows }),
    }),
  };
}

/**
 * Returns the SDK workers of a process. One of them runs both workflows and steps, so that a step can start with the
 * workflow task.
 */
export function queueWorkers({ queues }: WorkerConfig, base: string): QueueWorker[] {
  const [runsWorkflows, runsActivities] = [queues.includes('control'), queues.includes('steps')];
  const ofActivities = (kind: QueueKind) =>
    queues.includes(kind)
      ? [{ taskQueue: queueName(base, kind), kind, runsWorkflows: false, runsActivities: true }]
      : [];
  return [
    ...(runsWorkflows || runsActivities
      ? [{ taskQueue: base, kind: 'steps' as const, runsWorkflows, runsActivities }]
      : []),
    ...ofActivities('control'),
    ...ofActivities('bulk'),
  ];
}
