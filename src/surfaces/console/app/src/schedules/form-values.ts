import type { components } from '../../../../../../sdk/node/src/openapi.js';
import { numberIn } from '../number-in.js';
import { fromLocalInput, toLocalInput, type Schedule } from './schedule.js';

type NewSchedule = components['schemas']['NewSchedule'];
type SchedulePatch = components['schemas']['SchedulePatch'];

export const emptyValues = {
  coworker_id: '',
  goal: '',
  table: '',
  type: 'cron',
  interval: '3600',
  cron: '0 9 * * 1-5',
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  schedule: '',
  overlap: 'skip',
  limit: '',
  catchup_window: '3600',
  jitter: '0',
  pause_on_failure: 'false',
};

/** The form as the person typed it. Only the API validates the values, so that all error messages come from it. */
export type Values = Record<keyof typeof emptyValues, string>;

export function valuesOf(schedule: Schedule): Values {
  const { frequency, limit, table } = schedule;
  return {
    ...emptyValues,
    coworker_id: schedule.coworker_id,
    goal: schedule.goal.template,
    table: table ?? '',
    type: schedule.type,
    ...(typeof frequency === 'number' && { interval: String(frequency) }),
    ...(typeof frequency === 'object' && frequency !== null && frequency),
    schedule: toLocalInput(schedule.schedule),
    overlap: schedule.overlap,
    limit: limit === null ? '' : String(limit),
    catchup_window: String(schedule.catchup_window),
    jitter: String(schedule.jitter),
    pause_on_failure: String(schedule.pause_on_failure),
  };
}

/** Returns the field that shows the validation error of a path. */
export function fieldOf(path: string, type: string): string | undefined {
  const [first, second] = path.split('.');
  if (first !== 'frequency') return first !== undefined && first in emptyValues ? first : undefined;
  if (second === 'time_zone') return second;
  return type === 'interval' ? 'interval' : type === 'cron' ? 'cron' : 'type';
}

/** The cast is unchecked: the API refuses text that is not a number. */
const numberOf = (text: string) => numberIn(text) as number;

function timesOf({ type, interval, cron, time_zone, schedule }: Values) {
  const at = fromLocalInput(schedule);
  return {
    type: type as Schedule['type'],
    ...(type === 'interval' && { frequency: numberOf(interval) }),
    ...(type === 'cron' && { frequency: { cron, time_zone } }),
    ...(at !== undefined && { schedule: at }),
  };
}

function optionsOf({ goal, table, overlap, limit, catchup_window, jitter, pause_on_failure }: Values) {
  return {
    goal,
    table: table === '' ? null : table,
    overlap: overlap as Schedule['overlap'],
    limit: limit.trim() === '' ? null : numberOf(limit),
    catchup_window: numberOf(catchup_window),
    jitter: numberOf(jitter),
    pause_on_failure: pause_on_failure === 'true',
  };
}

export function bodyOf(values: Values): NewSchedule {
  return { coworker_id: values.coworker_id, ...optionsOf(values), ...timesOf(values) };
}

const timeFields = ['type', 'interval', 'cron', 'time_zone', 'schedule'] as const;

/** Returns the changed values. All time fields are sent together, and changing them restarts the schedule. */
export function changesOf(values: Values, initial: Values): SchedulePatch {
  const isRetimed = timeFields.some((name) => values[name] !== initial[name]);
  const options = Object.entries(optionsOf(values)).filter(
    ([name]) => values[name as keyof Values] !== initial[name as keyof Values],
  );
  return { ...Object.fromEntries(options), ...(isRetimed && timesOf(values)) };
}
