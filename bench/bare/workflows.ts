import { condition, defineUpdate, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';

const { nothing, call } = proxyActivities<{
  nothing(): Promise<void>;
  call(url: string, key: string): Promise<unknown>;
}>({ startToCloseTimeout: '10s' });

/** The baseline of an execution: runs only one activity per step. */
export async function bareSteps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await nothing();
}

/** The baseline of acts: runs one activity per act, which makes the same HTTP call. */
export async function bareCalls(url: string, count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await call(url, `${workflowInfo().workflowId}/${step}`);
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
