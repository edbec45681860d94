import {
  condition,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

const { nothing, call, recordedCall } = proxyActivities<{
  nothing(): Promise<void>;
  call(url: string, key: string): Promise<unknown>;
  recordedCall(url: string, key: string): Promise<unknown>;
}>({ startToCloseTimeout: '10s' });

/** The baseline of an execution: runs only one activity per step. */
export async function bareSteps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await nothing();
}

/** The baseline of parts that run at once: the same number of activities, as many at once. */
export async function bareParts(count: number, concurrency: number): Promise<void> {
  let left = count;
  const next = async () => {
    for (; left > 0;) {
      left -= 1;
      await nothing();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, next));
}

const { record, recordCalls } = proxyLocalActivities<{
  record(): Promise<void>;
  recordCalls(count: number): Promise<void>;
}>({ startToCloseTimeout: '10s' });

/** The least that an execution must do: the same steps, and one write of its record. */
export async function recordedSteps(count: number): Promise<void> {
  await bareSteps(count);
  await record();
}

/** The baseline of acts: runs one activity per act, which makes the same HTTP call. */
export async function bareCalls(url: string, count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await call(url, `${workflowInfo().workflowId}/${step}`);
}

/** The least that governed acts must do: the same calls, the records before and after each, and those of the run. */
export async function recordedCalls(url: string, count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await recordedCall(url, `${workflowInfo().workflowId}/${step}`);
  await recordCalls(count);
}

export const touchUpdate = defineUpdate<number>('touch');
const endUpdate = defineUpdate<void>('end');

/** The baseline of a pause: an update that changes one variable. */
export async function bareUpdates(): Promise<void> {
  let touched = 0;
  let ended = false;
  setHandler(touchUpdate, () => (touched += 1));
  setHandler(endUpdate, () => void (ended = true));
  await condition(() => ended);
}
