import type {
  CoworkerRunActivities,
  RowReference,
  RunPlan,
  RunReference,
} from '../../../workflows/coworker-run/activities.js';
import { isTriggeredRun } from '../../../workflows/coworker-run/messages.js';
import type { StartChildRequest } from '../../../workflows/agentflow-execution/child-messages.js';
import { principalOfMaker } from '../../auth/authority.js';
import { AppError } from '../../base/errors.js';
import { derivedId } from '../../base/ids.js';
import { renderText } from '../../prompts/template.js';
import { insertOnce } from '../../stores/insert-once.js';
import { production } from '../agentflows/record/channels.js';
import type { Deps } from '../deps.js';
import { resolveStart, startFacts, type StartRequest } from '../releases/operations/resolve.js';
import { NewExecution, prepareExecution } from '../executions/operations/create.js';
import { startRequestOf } from '../executions/operations/moves.js';
import { startOnBehalf } from '../executions/operations/start-on-behalf.js';
import { readTableRows } from '../tables/operations.js';
import { makerOf, workOfSchedule, type ScheduleDocument, type ScheduleRunDocument } from './record.js';

type Request<Name extends keyof CoworkerRunActivities> = Parameters<CoworkerRunActivities[Name]>[0];

const scheduleOf = ({ mongo }: Pick<Deps, 'mongo'>, run: RunReference) =>
  mongo.collections.schedules.findOne({ _id: run.schedule_id });

/** Creates the record of a run, and decides what the run does. */
export async function planRun(deps: Deps, run: RunReference): Promise<RunPlan> {
  const schedule = await scheduleOf(deps, run);
  if (!schedule || schedule.is_deleted) return { kind: 'gone' };
  const { run_id, schedule_id, first_run, scheduled_for, started_at } = run;
  const times = { scheduled_for, started_at, ended_at: null };
  const record: ScheduleRunDocument = {
    _id: run_id,
    schedule_id,
    projectID: schedule.projectID,
    first_run,
    ...(isTriggeredRun(run_id) && { is_triggered: true }),
    ...times,
    status: 'running',
    error: null,
    executions: [],
  };
  const present = await insertOnce(deps.mongo.collections.schedule_runs, record);
  // A backfill in Temporal can reuse the id of a run that has ended.
  if (present.first_run !== first_run) return { kind: 'repeated' };
  if (present === record) deps.metrics.scheduleDelay(started_at - scheduled_for);
  return schedule.table === null ? { kind: 'once' } : { kind: 'rows', table_id: schedule.table };
}

/** Prepares the execution of a run or of one of its rows. A repeat returns the same one. */
export async function prepareRun(deps: Deps, { run, row }: Request<'prepareRun'>): Promise<StartChildRequest> {
  const { collections } = deps.mongo;
  const schedule = await scheduleOf(deps, run);
  if (!schedule) throw new AppError('not_found', 'the schedule was not found');
  const id = executionIdOf(run, row);
  const principal = await principalOfMaker(collections, makerOf(schedule), workOfSchedule);
  const request = startRequestFor(schedule, run);
  const { triggered_by } = run;
  const causedBy = [...(schedule.edited_by ?? []), ...(triggered_by === undefined ? [] : [triggered_by])];
  const use = { kind: 'execution', id } as const;
  const prepare = async () => {
    await deps.customers.reserveCredits(principal.organizationId, use);
    const preparation = { id, scheduleId: schedule._id, causedBy };
    const runnable = await resolveStart(collections, principal, request, id);
    return prepareExecution(deps, principal, runnable, executionOf(schedule, row), preparation);
  };
  const facts = await startFacts(collections, principal, request);
  const { agentflowId } = request;
  const start = { entrance: 'schedule', principal, agentflowId, executionId: id, facts } as const;
  await startOnBehalf(deps, start, prepare).catch(async (error: unknown) => {
    await deps.customers.releaseCredits(principal.organizationId, use);
    throw error;
  });
  const record = await collections.executions.findOne({ _id: id });
  if (!record) throw new AppError('not_found', 'the execution was not found');
  return startRequestOf(deps, record);
}

/**
 * A run takes the release when it fires, or the one that a backfill named. Before the first release, only a run that a person has
 * triggered takes the draft.
 */
function startRequestFor({ coworker_id, channel, backfills = [] }: ScheduleDocument, run: RunReference): StartRequest {
  const { scheduled_for, started_at, triggered_by } = run;
  const named = backfills.findLast(
    ({ from, to, at }) =>
      from <= scheduled_for && scheduled_for <= to && at <= started_at && triggered_by === undefined,
  );
  return {
    agentflowId: coworker_id,
    beforeFirstRelease: triggered_by === undefined ? 'is refused' : 'runs the draft',
    ...(named && { version: named.version }),
    ...(channel !== undefined && channel !== production && { channel }),
  };
}

export async function readRows(
  deps: Pick<Deps, 'mongo'>,
  { run, table_id, after, limit }: Request<'readRows'>,
): Promise<RowReference[]> {
  const schedule = await scheduleOf(deps, run);
  return schedule ? readTableRows(deps.mongo, schedule.projectID, table_id, after, limit) : [];
}

/**
 * Derives the id only from the schedule, the planned time and the row, so that a repeat does not create another
 * execution. The times of rows differ by a millisecond, in row order.
 */
function executionIdOf({ run_id, scheduled_for }: RunReference, row: RowReference | null): string {
  return derivedId(scheduled_for + (row?.row_id ?? 0) / 1000, `${run_id}/${row?._id ?? ''}`);
}

function executionOf({ goal }: ScheduleDocument, row: RowReference | null): NewExecution {
  const variables = row ? { row: row.values } : {};
  const text = /\{[{%]/.test(goal.template)
    ? renderText('the goal of the schedule', goal.template, variables)
    : goal.template;
  return NewExecution.parse({
    agentflow_id: '',
    goal: text.trim().slice(0, 20_000) || goal.template,
    goal_template: goal.template,
    input_variables: variables,
  });
}
