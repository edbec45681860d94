import { ApplicationFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import { messageOf } from '../failure.js';
import type { ScheduleChangeActivities } from './activities.js';
import type { ScheduleChangeInput } from './messages.js';

const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '1m' } as const;
const options = { startToCloseTimeout: '30s', retry } as const;
const { storeScheduleChange } = proxyActivities<ScheduleChangeActivities>({ ...options, summary: 'write the record' });
const { applySchedule } = proxyActivities<ScheduleChangeActivities>({ ...options, summary: 'make the Temporal Schedule what the record says' });
const { undoScheduleChange } = proxyActivities<ScheduleChangeActivities>({ ...options, summary: 'take the change back' });

/**
 * Changes a schedule in the record and in Temporal, both or neither: whoever dies on the way, this goes on. A change that
 * Temporal refuses is taken back.
 */
export async function scheduleChange(input: ScheduleChangeInput): Promise<void> {
  await storeScheduleChange(input);
  try {
    await applySchedule(input.schedule_id);
  } catch (error) {
    if (isCancellation(error)) throw error;
    await undoScheduleChange(input);
    await applySchedule(input.schedule_id);
    throw ApplicationFailure.nonRetryable(messageOf(error), 'validation_failed');
  }
}
