import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import { scheduleChangeId, scheduleChangeType, type ScheduleChange, type ScheduleChangeInput } from '../../../../workflows/schedule-change/messages.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { RequestContext } from '../../../http/context.js';
import { syntaxProblem } from '../../../prompts/template.js';
import { epochSeconds } from '../../../time.js';
import { readAgentflow } from '../agentflows/store.js';
import { readTable } from '../tables/store.js';
import { shown, type ScheduleDocument } from './record.js';
import type { NewSchedule, Schedule, SchedulePatch } from './schemas.js';
import { timesOf } from './times.js';

const defaultCatchupSeconds = 3600;

/** @throws AppError `not_found`, alike for an unknown, malformed or deleted id and for one of another project */
export async function readSchedule({ mongo }: Pick<Deps, 'mongo'>, { projectId }: Principal, id: string): Promise<ScheduleDocument> {
  const record = await mongo.collections.schedules.findOne({ _id: id });
  if (!record || record.is_deleted || record.projectID !== projectId) throw notFound('the schedule');
  return record;
}

/** @throws AppError `not_found` (coworker, table), `validation_failed` (times, goal), `plan_limit`, `unavailable` */
export async function createSchedule(deps: Deps, { principal, recordId }: RequestContext, request: NewSchedule): Promise<Schedule> {
  await deps.customers.requireFeature(principal.organizationId, 'scheduling_and_cron_jobs');
  await readAgentflow(deps.mongo.collections, principal, request.coworker_id);
  await requireTable(deps, principal, request.table);
  const at = epochSeconds();
  const record: ScheduleDocument = {
    _id: recordId,
    projectID: principal.projectId,
    organization_id: principal.organizationId,
    coworker_id: request.coworker_id,
    created_by: principal.userId,
    created_at: at,
    updated_at: null,
    goal: goalOf(request.goal),
    ...timesOf(request.type, request.frequency, request.schedule),
    status: 'active',
    count: 0,
    limit: request.limit ?? null,
    table: request.table ?? null,
    conclusion: null,
    last_coworker_execution_id: null,
    last_record_id: null,
    task_id: '',
    overlap: request.overlap ?? 'skip',
    catchup_window: request.catchup_window ?? defaultCatchupSeconds,
    jitter: request.jitter ?? 0,
    pause_on_failure: request.pause_on_failure ?? false,
    reason: null,
    ...{ is_deleted: false, revision: 0, changes: [], before: null, times_since: at, pauses: [], counted: [] },
  };
  await change(deps, principal, recordId, recordId, { kind: 'create', record: { ...record } });
  return shown(await readSchedule(deps, principal, recordId));
}

export async function updateSchedule(deps: Deps, { principal, recordId }: RequestContext, id: string, patch: SchedulePatch): Promise<Schedule> {
  const record = await readSchedule(deps, principal, id);
  await requireTable(deps, principal, patch.table);
  const { projectID: _agrees, goal, type, frequency, schedule, status, reason, ...plain } = patch;
  const at = epochSeconds();
  const isRetimed = type !== undefined || frequency !== undefined || schedule !== undefined;
  const newType = type ?? record.type;
  const keeps = newType === record.type;
  const isReopened = record.status === 'completed' && hasMore(record, newType, isRetimed, plain.limit);
  if (status !== undefined && record.status === 'completed' && !isReopened) throw new AppError('conflict', 'the schedule is completed: give it another time or a higher limit');
  if (status === 'active' && newType === 'once' && !isRetimed && record.schedule <= at) throw new AppError('conflict', 'the time of the schedule has passed: give it another one');
  const fields: Partial<ScheduleDocument> = {
    ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
    ...(goal !== undefined && { goal: goalOf(goal) }),
    ...(isRetimed && { ...timesOf(newType, frequency ?? (keeps ? record.frequency : undefined), schedule ?? (keeps ? record.schedule : undefined)), times_since: at }),
    ...(isReopened && { status: 'active' as const }),
    ...(status !== undefined && movedTo(record, status, reason, at)),
    updated_at: at,
  };
  await change(deps, principal, id, recordId, { kind: 'update', fields });
  return shown(await readSchedule(deps, principal, id));
}

/** Whether a change leaves a completed schedule something to do. */
function hasMore({ limit: before, count }: ScheduleDocument, type: Schedule['type'], isRetimed: boolean, limit: number | null | undefined): boolean {
  if (type === 'once') return isRetimed;
  return limit === null || (limit === undefined && before === null) || (limit !== undefined && limit > (before ?? count));
}

/** Answers the last record. */
export async function deleteSchedule(deps: Deps, { principal, recordId }: RequestContext, id: string): Promise<Schedule> {
  await readSchedule(deps, principal, id);
  await change(deps, principal, id, recordId, { kind: 'delete' });
  const last = await deps.mongo.collections.schedules.findOne({ _id: id });
  if (!last) throw notFound('the schedule');
  return shown(last);
}

/** @throws AppError `validation_failed` for a template that could be rendered at no firing */
function goalOf(goal: NewSchedule['goal']): Schedule['goal'] {
  const whole = typeof goal === 'string' ? { template: goal, display_template: JSON.stringify([{ text: goal }]) } : goal;
  const problem = syntaxProblem(whole.template);
  if (problem !== undefined) throw new AppError('validation_failed', `goal: is no Liquid template: ${problem}`);
  return whole;
}

function movedTo(record: ScheduleDocument, status: 'active' | 'paused', reason: string | undefined, at: number): Partial<ScheduleDocument> {
  if (status === 'paused') return { status, reason: reason ?? 'paused on request', pauses: record.status === 'paused' ? record.pauses : pausedSince(record, at) };
  return { status, reason: null, pauses: record.pauses.map((pause) => ({ ...pause, to: pause.to ?? at })) };
}

const pausesKept = 200;

export function pausedSince({ pauses }: Pick<ScheduleDocument, 'pauses'>, at: number): ScheduleDocument['pauses'] {
  return [...pauses, { from: at, to: null }].slice(-pausesKept);
}

async function requireTable({ mongo }: Deps, { projectId }: Principal, table: string | null | undefined): Promise<void> {
  if (table === null || table === undefined) return;
  await readTable(mongo, projectId, table);
}

/**
 * Has the change made by its workflow, and waits for it. The same request again joins the same workflow.
 * @throws AppError `unavailable` where Temporal or a worker does not answer; once Temporal has it, it is made all the same
 */
async function change(deps: Deps, principal: Principal, id: string, changeId: string, what: ScheduleChange): Promise<void> {
  const input: ScheduleChangeInput = { schedule_id: id, change_id: changeId, change: what };
  const workflowId = scheduleChangeId(id, changeId);
  const options = {
    workflowId,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    taskQueue: deps.temporal.taskQueue,
    staticSummary: `${what.kind} schedule ${id}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.projectId, value: principal.projectId },
      { key: searchAttributes.organizationId, value: principal.organizationId },
    ]),
    args: [input],
  };
  try {
    await deps.temporal.call((client) => client.workflow.start(scheduleChangeType, options));
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  try {
    await deps.temporal.callWorker((client) => client.workflow.getHandle(workflowId).result());
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === 'validation_failed') throw new AppError('validation_failed', cause.message);
    throw error;
  }
}
