import { queueKinds, queueName, type QueueKind } from '../../workflows/queues/queues.js';
import { epochSeconds } from '../base/time.js';
import type { Temporal } from './client.js';

/** `workflows` means workflow tasks. The other names mean activities of that kind. */
export const queueNames = ['workflows', ...queueKinds] as const;
type QueueName = (typeof queueNames)[number];

/** The state of one task queue as Temporal reports it. */
export interface QueueFacts {
  name: QueueName;
  /** The time of a worker's last poll in epoch seconds, or null if no worker has polled for some minutes. */
  askedAt: number | null;
  /** The time at which the oldest waiting task was added in epoch seconds, or null if no task waits. */
  waitingSince: number | null;
  uiUrl: string;
}

/** The minimum time between two reads by this process, regardless of the number of viewers. */
const freshMs = 5000;
const timeoutMs = 2000;
const types = { workflow: 1, activity: 2 } as const;

/** Reads the task queues of the service. Caches a failure for the same time as a result. */
export function createQueueFacts(temporal: Temporal): () => Promise<QueueFacts[]> {
  let last: { readAt: number; facts: Promise<QueueFacts[]> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.readAt > freshMs)
      last = { readAt: now, facts: Promise.all(queueNames.map((name) => factsOf(temporal, name))) };
    return last.facts;
  };
}

async function factsOf(temporal: Temporal, name: QueueName): Promise<QueueFacts> {
  const kind: QueueKind = name === 'workflows' ? 'steps' : name;
  const queue = queueName(temporal.taskQueue, kind);
  const taskQueueType = types[name === 'workflows' ? 'workflow' : 'activity'];
  const { pollers, stats } = await temporal.call(
    ({ options: { namespace }, workflowService }) =>
      workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType, reportStats: true }),
    timeoutMs,
  );
  const pollTimes = pollers.map(({ lastAccessTime }) => secondsOf(lastAccessTime));
  const isWaiting = Number(stats?.approximateBacklogCount ?? 0) > 0;
  return {
    name,
    askedAt: pollTimes.length === 0 ? null : Math.max(...pollTimes),
    waitingSince: isWaiting ? epochSeconds() - secondsOf(stats?.approximateBacklogAge) : null,
    uiUrl: temporal.queueUiLink(queue),
  };
}

interface Seconds {
  seconds?: { toString(): string } | null;
  nanos?: number | null;
}

const secondsOf = (at: Seconds | null | undefined): number => Number(at?.seconds ?? 0) + (at?.nanos ?? 0) / 1e9;
