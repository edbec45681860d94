import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { memberOf, type Principal } from '../src/auth/principal.js';
import type { Deps } from '../src/deps.js';
import { AppError } from '../src/errors.js';
import { NewExecution, prepareExecution } from '../src/platform/resources/executions/create.js';
import { startRequestOf } from '../src/platform/resources/executions/moves.js';
import { readAgentflow } from '../src/platform/resources/agentflows/store.js';
import type { ScheduleDocument } from '../src/platform/resources/schedules/record.js';
import { pausedSince } from '../src/platform/resources/schedules/store.js';
import { applySchedule, onSchedule } from '../src/platform/resources/schedules/temporal.js';
import type { CoworkerRunActivities, RowReference, RunReference } from '../workflows/coworker-run/activities.js';
import type { ScheduleChangeActivities } from '../workflows/schedule-change/activities.js';
import type { ScheduleChangeInput } from '../workflows/schedule-change/messages.js';
import { withHeartbeat } from './with-heartbeat.js';
import { readTableRows } from './table-rows.js';
import { renderText } from './template.js';

const remembered = 100;

type ScheduleActivities = CoworkerRunActivities & ScheduleChangeActivities;

export function createScheduleActivities(deps: Deps): ScheduleActivities {
  return { ...runActivities(deps), ...outcomeActivities(deps), ...changeActivities(deps) };
}

function runActivities(deps: Deps): Pick<ScheduleActivities, 'planRun' | 'prepareRun' | 'readRows'> {
  const { mongo, metrics } = deps;
  const { schedules, schedule_runs } = mongo.collections;
  const scheduleOf = (run: RunReference) => schedules.findOne({ _id: run.schedule_id });
  return {
    async planRun(run) {
      const schedule = await scheduleOf(run);
      if (!schedule || schedule.is_deleted) return { kind: 'gone' };
      const { run_id, schedule_id, scheduled_for, started_at } = run;
      const fields = { schedule_id, projectID: schedule.projectID, scheduled_for, started_at, ended_at: null, status: 'running' as const, error: null, executions: [] };
      const { upsertedCount } = await schedule_runs.updateOne({ _id: run_id }, { $setOnInsert: fields }, { upsert: true });
      if (upsertedCount > 0) metrics.scheduleDelay(started_at - scheduled_for);
      return schedule.table === null ? { kind: 'once' } : { kind: 'rows', table_id: schedule.table };
    },
    prepareRun: ({ run, row, at }) =>
      withHeartbeat(null, async () => {
        const schedule = await scheduleOf(run);
        if (!schedule) throw new AppError('not_found', 'the schedule was not found');
        const id = executionIdOf(run, row, at);
        const principal = principalOf(schedule);
        const agentflow = await readAgentflow(mongo.collections, principal, schedule.coworker_id);
        await prepareExecution(deps, principal, agentflow, executionOf(schedule, row), { id, scheduleId: schedule._id });
        const record = await mongo.collections.executions.findOne({ _id: id });
        if (!record) throw new AppError('not_found', 'the execution was not found');
        return startRequestOf(deps, record);
      }),
    readRows: ({ run, table_id, after, limit }) =>
      withHeartbeat(null, async () => {
        const schedule = await scheduleOf(run);
        return schedule ? readTableRows(mongo, schedule.projectID, table_id, after, limit) : [];
      }),
  };
}

/** The same for every attempt, and a UUIDv7, by which lists are sorted. */
function executionIdOf({ run_id }: RunReference, row: RowReference | null, at: number): string {
  const random = createHash('sha256').update(`${run_id}/${row?._id ?? ''}`).digest().subarray(0, 16);
  return v7({ msecs: Math.floor(at * 1000), random });
}

/** A run acts for the person who made its schedule, in its own project only. */
function principalOf({ created_by, organization_id, projectID }: ScheduleDocument): Principal {
  return memberOf({ userId: created_by, organizationId: organization_id, projectId: projectID }, ['svc:agent.run']);
}

function executionOf({ goal }: ScheduleDocument, row: RowReference | null): NewExecution {
  const variables = row ? { row: row.values } : {};
  const text = /\{[{%]/.test(goal.template) ? renderText('the goal of the schedule', goal.template, variables) : goal.template;
  return NewExecution.parse({ agentflow_id: '', goal: text.trim().slice(0, 20_000) || goal.template, goal_template: goal.template, input_variables: variables });
}

function outcomeActivities(deps: Deps): Pick<ScheduleActivities, 'recordExecution' | 'recordRun'> {
  const { schedules, schedule_runs, executions } = deps.mongo.collections;
  return {
    async recordExecution({ run, outcome: { execution_id, record_id, status, conclusion, error } }) {
      const entry = { execution_id, record_id, status, error };
      const isNew = execution_id === null ? { 'executions.record_id': { $ne: record_id } } : { 'executions.execution_id': { $ne: execution_id } };
      await schedule_runs.updateOne({ _id: run.run_id, ...isNew }, { $push: { executions: { $each: [entry], $slice: -1000 } } });
      if (execution_id === null) return;
      const execution = await executions.findOne({ _id: execution_id }, { projection: { task_id: 1 } });
      const last = { last_coworker_execution_id: execution_id, last_record_id: record_id, task_id: execution?.task_id ?? '' };
      await schedules.updateOne({ _id: run.schedule_id }, { $set: { ...last, ...(conclusion !== null && { conclusion }) } });
    },
    async recordRun({ run, ended_at, status, error }) {
      const { run_id, schedule_id } = run;
      await schedule_runs.updateOne({ _id: run_id }, { $set: { ended_at, status, error } });
      await schedules.updateOne({ _id: schedule_id, counted: { $ne: run_id } }, { $inc: { count: 1 }, $push: { counted: { $each: [run_id], $slice: -remembered } } });
      await endOrPause(deps, run, status === 'failed' ? { ended_at, error } : null);
      await markCoworker(deps, schedule_id);
    },
  };
}

type Failure = { ended_at: number; error: string | null };

/** Again where the schedule was changed meanwhile: the change says nothing of how this run ended. */
async function endOrPause(deps: Deps, run: RunReference, failure: Failure | null): Promise<void> {
  const { schedules } = deps.mongo.collections;
  for (;;) {
    const schedule = await schedules.findOne({ _id: run.schedule_id });
    if (!schedule || schedule.is_deleted) return;
    const pauses = failure && schedule.pause_on_failure ? failure : null;
    const outcome = schedule.status === 'active' ? await outcomeFor(deps, schedule, run, pauses) : undefined;
    const { _id, revision } = schedule;
    if (outcome && (await schedules.updateOne({ _id, revision }, { $set: outcome, $inc: { revision: 1 } })).matchedCount === 0) continue;
    // Also when it is paused already: an attempt before this may have come no further.
    if (pauses) await applySchedule(deps, _id);
    return;
  }
}

/** What the run makes of an active schedule; undefined when that goes on. */
async function outcomeFor(deps: Deps, schedule: ScheduleDocument, run: RunReference, failure: Failure | null): Promise<Partial<ScheduleDocument> | undefined> {
  if (await hasEnded(deps, schedule, run)) return { status: 'completed' };
  if (!failure) return undefined;
  return { status: 'paused', reason: `a run failed: ${failure.error ?? ''}`.slice(0, 500), pauses: pausedSince(schedule, failure.ended_at) };
}

/** Nothing more is planned: its one time has come, or its limit is reached. */
async function hasEnded({ temporal }: Deps, { _id, type, schedule, limit }: ScheduleDocument, { scheduled_for }: RunReference): Promise<boolean> {
  if (type === 'once') return scheduled_for >= schedule;
  return limit !== null && (await onSchedule(temporal, _id, (handle) => handle.describe())).state.remainingActions === 0;
}

/** Whether a coworker has a cron schedule that is active is told by the coworker too. */
async function markCoworker({ mongo }: Deps, id: string): Promise<void> {
  const { schedules, agentflows } = mongo.collections;
  const schedule = await schedules.findOne({ _id: id });
  if (!schedule) return;
  const active = await schedules.countDocuments({ projectID: schedule.projectID, coworker_id: schedule.coworker_id, type: 'cron', status: 'active', is_deleted: false });
  await agentflows.updateOne({ _id: schedule.coworker_id }, { $set: { is_cron_scheduled: active > 0 } });
}

function changeActivities(deps: Deps): ScheduleChangeActivities {
  const { schedules } = deps.mongo.collections;
  return {
    async storeScheduleChange({ schedule_id: _id, change_id, change }) {
      const fresh = { _id, changes: { $ne: change_id } };
      const written = { $inc: { revision: 1 }, $push: { changes: { $each: [change_id], $slice: -remembered } } };
      if (change.kind === 'create') {
        const { _id: _same, ...fields } = change.record as unknown as ScheduleDocument;
        await schedules.updateOne({ _id }, { $setOnInsert: { ...fields, revision: 1, changes: [change_id] } }, { upsert: true });
      } else if (change.kind === 'delete') {
        await schedules.updateOne(fresh, { $set: { is_deleted: true }, ...written });
      } else {
        const record = await schedules.findOne(fresh);
        if (!record) return;
        const replaced = Object.fromEntries(Object.keys(change.fields).map((name) => [name, record[name as keyof ScheduleDocument] ?? null]));
        await schedules.updateOne(fresh, { $set: { ...change.fields, before: { change_id, fields: replaced } }, ...written });
      }
    },
    async applySchedule(id) {
      await withHeartbeat(null, () => applySchedule(deps, id));
      await markCoworker(deps, id);
    },
    async undoScheduleChange({ schedule_id: _id, change_id, change }: ScheduleChangeInput) {
      if (change.kind !== 'update') return void (await schedules.updateOne({ _id }, { $set: { is_deleted: true }, $inc: { revision: 1 } }));
      const record = await schedules.findOne({ _id, 'before.change_id': change_id });
      if (record?.before) await schedules.updateOne({ _id, 'before.change_id': change_id }, { $set: { ...record.before.fields, before: null }, $inc: { revision: 1 } });
    },
  };
}
