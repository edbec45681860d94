import { condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

/** The baseline of an execution: the same number of activities, and nothing else. */
export async function bareSteps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await nothing();
}

export const touchUpdate = defineUpdate<number>('touch');
export const endUpdate = defineUpdate<void>('end');

/** The baseline of a pause: an update that changes one variable. */
export async function bareUpdates(): Promise<void> {
  let touched = 0;
  let ended = false;
  setHandler(touchUpdate, () => (touched += 1));
  setHandler(endUpdate, () => void (ended = true));
  await condition(() => ended);
}
