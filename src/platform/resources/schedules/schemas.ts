import { z } from 'zod';

const Time = z.number().meta({ description: 'Epoch seconds.' });
const Zone = z.string().max(100).meta({ description: 'An IANA time zone.' });

export const scheduleTypes = ['once', 'interval', 'cron'] as const;
export const overlapPolicies = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all'] as const;

const Goal = z.object({ template: z.string(), display_template: z.string() });
const Cron = z.object({ cron: z.string(), time_zone: z.string() });

const exampleId = '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10';

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
    schedule: z.number().meta({ description: 'Epoch seconds of the planned run; of an interval or a cron text, from when on it holds.' }),
    type: z.enum(scheduleTypes),
    status: z.enum(['active', 'paused', 'completed']),
    frequency: z.union([z.number(), Cron]).nullable().meta({ description: 'Seconds of an interval, or a cron text with its time zone.' }),
    count: z.int().meta({ description: 'Runs so far.' }),
    limit: z.int().nullable(),
    table: z.string().nullable().meta({ description: 'One execution for each of its rows.' }),
    conclusion: z.string().nullable().meta({ description: 'Of the last execution.' }),
    last_coworker_execution_id: z.string().nullable(),
    last_record_id: z.string().nullable(),
    task_id: z.string().meta({ description: 'The task of the last execution; empty before the first.' }),
    overlap: z.enum(overlapPolicies),
    catchup_window: z.number().meta({ description: 'Seconds.' }),
    jitter: z.number().meta({ description: 'Seconds.' }),
    pause_on_failure: z.boolean(),
    reason: z.string().nullable().meta({ description: 'Why it is paused.' }),
  })
  .meta({
    id: 'Schedule',
    example: {
      ...{ _id: exampleId, projectID: 'project_1', coworker_id: exampleId, created_by: 'user_1', created_at: 1763683200.5, updated_at: null },
      ...{ goal: { template: 'Brief the team', display_template: '[]' }, schedule: 1763683200, type: 'cron', status: 'active' },
      ...{ frequency: { cron: '0 9 * * 1-5', time_zone: 'Europe/Oslo' }, count: 3, limit: null, table: null, conclusion: '# Brief' },
      ...{ last_coworker_execution_id: exampleId, last_record_id: null, task_id: exampleId, overlap: 'skip', catchup_window: 3600, jitter: 0 },
      ...{ pause_on_failure: false, reason: null },
    },
  });
export type Schedule = z.infer<typeof Schedule>;

const GoalText = z.string().trim().min(1).max(20_000);
const scheduleFields = {
  goal: z.union([GoalText, z.strictObject({ template: GoalText, display_template: z.string().max(100_000).default('') })]),
  schedule: z.number().min(0).max(4_102_444_800),
  frequency: z.union([z.int().min(1).max(31_536_000), z.string().min(1).max(300), z.strictObject({ cron: z.string().min(1).max(200), time_zone: Zone.default('UTC') })]).nullable()
    .meta({ description: 'Seconds, `CRON_TZ=Europe/Oslo 0 9 * * 1-5`, or {cron, time_zone}.' }),
  limit: z.int().min(1).max(1_000_000).nullable(),
  table: z.string().min(1).max(100).nullable(),
  overlap: z.enum(overlapPolicies),
  catchup_window: z.int().min(10).max(31_536_000),
  jitter: z.int().min(0).max(86_400),
  pause_on_failure: z.boolean(),
};

export const NewSchedule = z
  .strictObject(scheduleFields)
  .partial()
  .extend({ projectID: z.string().optional(), coworker_id: z.string().max(100), goal: scheduleFields.goal, type: z.enum(scheduleTypes) })
  .meta({ id: 'NewSchedule', example: { coworker_id: exampleId, goal: 'Brief the team', type: 'cron', frequency: { cron: '0 9 * * 1-5', time_zone: 'Europe/Oslo' } } });
export type NewSchedule = z.infer<typeof NewSchedule>;

export const SchedulePatch = z
  .strictObject({ ...scheduleFields, type: z.enum(scheduleTypes), status: z.enum(['active', 'paused']), reason: z.string().max(500), projectID: z.string() })
  .partial()
  .refine(({ status, reason }) => reason === undefined || status === 'paused', { path: ['reason'], message: 'goes together with status paused' })
  .meta({ id: 'SchedulePatch', example: { status: 'paused', reason: 'The source is being moved' } });
export type SchedulePatch = z.infer<typeof SchedulePatch>;

export const Backfill = z
  .strictObject({ from: z.number().min(0), to: z.number().min(0), projectID: z.string().optional() })
  .meta({ id: 'ScheduleBackfill', example: { from: 1763683200, to: 1763769600 } });

const RunStatus = z.enum(['running', 'completed', 'failed', 'cancelled', 'skipped', 'missed']);

export const ScheduleRun = z.object({
  scheduled_for: Time,
  started_at: Time.nullable(),
  ended_at: Time.nullable(),
  status: RunStatus,
  reason: z.string().nullable().meta({ description: 'Why a planned run did not fire: overlap, paused, catchup_window.' }),
  executions: z.array(z.object({ execution_id: z.string().nullable(), record_id: z.string().nullable(), status: z.string(), error: z.string().nullable() })),
  error: z.string().nullable(),
  temporal_ui_url: z.string().nullable().meta({ description: 'The run in the Temporal UI; null where nothing fired.' }),
});
export type ScheduleRun = z.infer<typeof ScheduleRun>;

export const ScheduleRuns = z
  .object({
    data: z.array(ScheduleRun).meta({ description: 'Newest first.' }),
    total_count: z.int(),
    next_cursor: z.string().nullable(),
    next: z.array(Time).meta({ description: 'The next ten that are planned; none while it is paused.' }),
    skipped_overlap: z.int().meta({ description: "Temporal's own count of runs that were due during another." }),
    missed_catchup: z.int().meta({ description: "Temporal's own count of runs that came too late." }),
  })
  .meta({ id: 'ScheduleRuns' });
export type ScheduleRuns = z.infer<typeof ScheduleRuns>;
