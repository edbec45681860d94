import {
  allHandlersFinished,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { historyIsFull } from '../history.js';
import type { ScheduleChangeActivities } from './activities.js';
import {
  changeSignal,
  type Refusal,
  type ScheduleChangeInput,
  type ScheduleChangesInput,
  type ScheduleChangeState,
} from './messages.js';

const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '1m' } as const;
/** A change that fails for an hour is refused, so that the next changes are made. */
const options = { startToCloseTimeout: '30s', scheduleToCloseTimeout: '1h', retry } as const;
const { storeScheduleChange } = proxyActivities<ScheduleChangeActivities>({ ...options, summary: 'write the record' });
const { applySchedule } = proxyActivities<ScheduleChangeActivities>({
  ...options,
  summary: 'update the Temporal Schedule from the record',
});
const { undoScheduleChange } = proxyActivities<ScheduleChangeActivities>({ ...options, summary: 'revert the change' });

const maxOutcomes = 100;
const maxHistoryEvents = 5000;

/**
 * Makes the changes of one schedule in the order in which they arrived, each in both the record and Temporal or in neither. A
 * change that Temporal refuses is undone before the next one begins. Ends when no change is waiting.
 */
export async function scheduleChange(input: ScheduleChangesInput): Promise<ScheduleChangeState['outcomes']> {
  const { schedule_id, max_history_events = maxHistoryEvents } = input;
  const state = input.resumed ?? { pending: [], outcomes: [] };
  const enqueue = (next: ScheduleChangeInput | undefined) => {
    if (typeof next?.change_id !== 'string') return;
    const isKnown = [...state.pending, ...state.outcomes].some((each) => each.change_id === next.change_id);
    if (!isKnown) state.pending.push(next);
  };
  setHandler(changeSignal, enqueue, { description: 'A change of the schedule, made after those that wait' });

  for (let next = state.pending[0]; next; next = state.pending[0]) {
    const refusal = await makeChange(next);
    state.pending.shift();
    state.outcomes = [...state.outcomes, { change_id: next.change_id, refusal }].slice(-maxOutcomes);
    if (state.pending.length > 0 && historyIsFull({ max_history_events })) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof scheduleChange>({ schedule_id, max_history_events, resumed: state });
    }
  }
  return state.outcomes;
}

/** Returns the refusal of a change that was not made, otherwise null. */
async function makeChange(input: ScheduleChangeInput): Promise<Refusal | null> {
  try {
    await storeScheduleChange(input);
    await applySchedule(input.schedule_id);
    return null;
  } catch (error) {
    if (isCancellation(error)) throw error;
    const refusal = failureOf(error, 'unavailable');
    await undo(input);
    return refusal;
  }
}

async function undo(input: ScheduleChangeInput): Promise<void> {
  try {
    await undoScheduleChange(input);
    await applySchedule(input.schedule_id);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}
