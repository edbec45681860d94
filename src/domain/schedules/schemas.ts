import { z } from 'zod';
import { NextCursor, Total } from '../../stores/lists.js';
import { Id, exampleId } from '../../base/ids.js';
import { queryNumber } from '../../base/validation.js';
import { EpochSeconds } from '../../base/time.js';
import { ChannelName } from '../agentflows/record/channels.js';
import { Frequency, GivenFrequency } from './frequency.js';

const Time = EpochSeconds.describe('Epoch seconds.');

const scheduleTypes = ['once', 'interval', 'cron', 'calendar'] as const;
const overlapPolicies = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all'] as const;

const Goal = z.object({ template: z.string(), display_template: z.string() });

const exampleSchedule = {
  ...{
    _id: exampleId,
    projectID: 'project_1',
    coworker_id: exampleId,
    created_by: 'user_1',
    created_at: 1763683200.5,
    updated_at: null,
  },
  ...{
    goal: { template: 'Brief the team', display_template: '[]' },
    schedule: 1763683200,
    type: 'cron',
    status: 'active',
  },
  ...{
    frequency: { cron: '0 9 * * 1-5', time_zone: 'Europe/Oslo' },
    ends_at: null,
    count: 3,
    limit: null,
    table: null,
    conclusion: '# Brief',
  },
  ...{
    last_coworker_execution_id: exampleId,
    last_record_id: null,
    task_id: exampleId,
    overlap: 'skip',
    catchup_window: 3600,
    jitter: 0,
  },
  ...{ pause_on_failure: false, reason: null, channel: 'production' },
};

/** A schedule of a coworker (specification, Schedule). */
export const Schedule = z
  .object({
    _id: z.string(),
    projectID: z.string(),
    coworker_id: z.string(),
    created_by: z.string(),
    created_at: Time,
    updated_at: Time.nullable(),
    goal: Goal,
    schedule: z
      .number()
      .describe('Epoch seconds: for `once`, the time of the run; for the other types, when it takes effect.'),
    type: z.enum(scheduleTypes),
    status: z.enum(['active', 'paused', 'completed']),
    frequency: Frequency,
    ends_at: Time.nullable().describe('Epoch seconds: no run is planned after this time. Null if it does not end.'),
    count: z.int().describe('Number of runs so far.'),
    limit: z.int().nullable(),
    table: z.string().nullable().describe('Runs one execution for each row of this table.'),
    conclusion: z.string().nullable().describe('The conclusion of the last execution.'),
    last_coworker_execution_id: z.string().nullable(),
    last_record_id: z.string().nullable(),
    task_id: z.string().describe('The task of the last execution. Empty before the first execution.'),
    overlap: z.enum(overlapPolicies),
    catchup_window: z.number().describe('Seconds.'),
    jitter: z.number().describe('Seconds.'),
    pause_on_failure: z.boolean(),
    reason: z.string().nullable().describe('Why it is paused.'),
    channel: ChannelName.describe('The channel whose release each run takes when it fires.'),
  })
  .meta({ id: 'Schedule', example: exampleSchedule });
export type Schedule = z.infer<typeof Schedule>;

const GoalText = z.string().trim().min(1).max(20_000);
/** The year 2100, with which Temporal's calendars end. */
const latestTime = 4_102_444_800;
const scheduleFields = {
  goal: z.union([
    GoalText,
    z.strictObject({ template: GoalText, display_template: z.string().max(100_000).default('') }),
  ]),
  schedule: z.number().min(0).max(latestTime),
  frequency: GivenFrequency,
  ends_at: z
    .number()
    .min(0)
    .max(latestTime)
    .nullable()
    .describe('Epoch seconds: no run is planned after this time. Not for type `once`. Null removes it.'),
  limit: z.int().min(1).max(1_000_000).nullable(),
  table: z.string().min(1).max(100).nullable(),
  overlap: z.enum(overlapPolicies),
  catchup_window: z.int().min(10).max(31_536_000),
  jitter: z.int().min(0).max(86_400),
  pause_on_failure: z.boolean(),
  channel: ChannelName.describe('The channel whose release each run takes when it fires. Default `production`.'),
};

export const NewSchedule = z
  .strictObject(scheduleFields)
  .partial()
  .extend({
    projectID: z.string().optional(),
    coworker_id: z.string().max(100),
    goal: scheduleFields.goal,
    type: z.enum(scheduleTypes),
    status: z.enum(['active', 'paused']).default('active').describe('`paused`: no run starts until it is resumed.'),
  })
  .meta({
    id: 'ScheduleInput',
    example: {
      coworker_id: exampleId,
      goal: 'Brief the team',
      type: 'cron',
      frequency: { cron: '0 9 * * 1-5', time_zone: 'Europe/Oslo' },
    },
  });
export type NewSchedule = z.infer<typeof NewSchedule>;

export const SchedulePatch = z
  .strictObject({
    ...scheduleFields,
    type: z.enum(scheduleTypes),
    status: z.enum(['active', 'paused']),
    reason: z.string().max(500),
    expected: Time.nullable().describe(
      'What the change is based on: `updated_at`, as it was read. If the schedule was changed since, the answer is 409.',
    ),
    projectID: z.string(),
  })
  .partial()
  .refine(({ status, reason }) => reason === undefined || status === 'paused', {
    path: ['reason'],
    message: 'requires status paused',
  })
  .meta({ id: 'SchedulePatch', example: { status: 'paused', reason: 'The source is being moved' } });

export const Backfill = z
  .strictObject({
    from: z.number().min(0),
    to: z.number().min(0),
    version: z
      .int()
      .min(1)
      .optional()
      .describe('The release to run. By default the one in the channel of the schedule.')
      .meta({ example: 3 }),
    projectID: z.string().optional(),
  })
  .meta({ id: 'ScheduleBackfill', example: { from: 1763683200, to: 1763769600 } });

export const Backfilled = z
  .object({
    planned: z.array(Time).describe('The planned times that will run.'),
    already_fired: z
      .int()
      .describe('Number of planned times in the range that have already fired and are not repeated.'),
    reason: z.string().nullable().describe('Why nothing will run; null otherwise.'),
  })
  .meta({ id: 'ScheduleBackfilled', example: { planned: [1763712000], already_fired: 0, reason: null } });

export const TimeRange = z.object({
  from: queryNumber(z.number().min(0)).describe('Epoch seconds.').meta({ example: 1763683200 }),
  to: queryNumber(z.number().min(0))
    .describe('Epoch seconds, at most 366 days after `from`.')
    .meta({ example: 1764288000 }),
});

export const PlannedTimes = z
  .object({
    times: z
      .array(z.object({ scheduled_for: Time, has_fired: z.boolean() }))
      .describe('At most 1,000, oldest first, without jitter.'),
    is_complete: z.boolean().describe('False if the range contains more times than are listed.'),
  })
  .meta({
    id: 'ScheduleTimes',
    example: { times: [{ scheduled_for: 1763712000, has_fired: false }], is_complete: true },
  });

const RunStatus = z.enum(['running', 'completed', 'failed', 'cancelled', 'skipped', 'missed']);

export const ScheduleRun = z.object({
  scheduled_for: Time.describe(
    'Epoch seconds: the planned time without jitter, or the time at which the run was triggered.',
  ),
  started_at: Time.nullable(),
  ended_at: Time.nullable(),
  status: RunStatus,
  reason: z
    .string()
    .nullable()
    .describe('Why a planned run did not fire: overlap, paused, limit or catchup_window.')
    .meta({ example: null }),
  executions: z.array(
    z.object({
      execution_id: Id.nullable(),
      record_id: Id.nullable(),
      status: z.string().meta({ example: 'completed' }),
      error: z.string().nullable().meta({ example: null }),
    }),
  ),
  error: z.string().nullable().meta({ example: null }),
  temporal_ui_url: z
    .string()
    .nullable()
    .describe('The run in the Temporal UI; null if it did not fire.')
    .meta({ example: 'https://temporal.acme.dev/namespaces/default/workflows' }),
});
export type ScheduleRun = z.infer<typeof ScheduleRun>;

/** A schedule in a list, with what a list shows of its past and future. */
export const ListedSchedule = Schedule.extend({
  next_times: z
    .array(Time)
    .nullable()
    .describe('The next ten planned times. Empty unless the schedule is active; null if Temporal does not answer.'),
  latest_run: ScheduleRun.pick({ scheduled_for: true, started_at: true, ended_at: true, status: true, error: true })
    .nullable()
    .describe('The run with the latest planned time. Null before the first one.'),
  temporal_ui_url: z.string().describe('The schedule in the Temporal UI.'),
}).meta({
  id: 'ListedSchedule',
  example: {
    ...exampleSchedule,
    next_times: [1763712000],
    latest_run: {
      ...{ scheduled_for: 1763683200, started_at: 1763683201, ended_at: 1763683210 },
      ...{ status: 'completed', error: null },
    },
    temporal_ui_url: 'https://temporal.acme.dev/namespaces/default/schedules/schedule%2F1',
  },
});
export type ListedSchedule = z.infer<typeof ListedSchedule>;

export const ScheduleRuns = z
  .object({
    data: z.array(ScheduleRun).describe('Newest first.'),
    ...Total.shape,
    next_cursor: NextCursor,
    next: z.array(Time).describe('The next ten planned times. Empty while the schedule is paused.'),
    temporal_ui_url: z
      .string()
      .describe('The schedule in the Temporal UI.')
      .meta({ example: 'https://temporal.acme.dev/namespaces/default/schedules/schedule%2F1' }),
    skipped_overlap: z
      .int()
      .describe("Temporal's count of runs that were skipped because another run was in progress.")
      .meta({ example: 1 }),
    missed_catchup: z.int().describe("Temporal's count of runs that missed the catch-up window.").meta({ example: 0 }),
  })
  .meta({ id: 'ScheduleRuns' });
