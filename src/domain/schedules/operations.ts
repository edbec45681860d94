import { z } from 'zod';
import {
  changeSignal,
  scheduleChangeId,
  scheduleChangeType,
  type ScheduleChange,
  type ScheduleChangeInput,
  type ScheduleChanges,
  type ScheduleChangesInput,
} from '../../../workflows/schedule-change/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { authorityOf, whyPowerless } from '../../auth/authority.js';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { AppError, notFound } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { syntaxProblem } from '../../prompts/template.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { epochSeconds } from '../../base/time.js';
import { findAgentflow } from '../agentflows/operations/store.js';
import { startOfCoworker, startRules, startsOf } from '../caused-rules.js';
import { defineOperation, reads, writes } from '../operation.js';
import { readTable } from '../tables/record.js';
import { toListed } from './listed.js';
import { pausedSince } from './pauses.js';
import {
  coworkerOf,
  findSchedule,
  makerOf,
  statusOf,
  toSchedule,
  workOfSchedule,
  type ScheduleDocument,
} from './record.js';
import { ListedSchedule, NewSchedule, Schedule, SchedulePatch } from './schemas.js';
import { trigger } from './temporal.js';
import { firstTimeAfter, timesOf } from './times.js';
import { Id } from '../../base/ids.js';
export { schedulesCollection, scheduleRunsCollection } from './record.js';

export { backfillSchedule, listTimes } from './backfill.js';
export { removeSchedules } from './remove.js';
export { listRuns } from './runs.js';

const defaultCatchupSeconds = 3600;
const pausedOnRequest = 'paused on request';
/** What the workflow of a change can answer besides a fault. */
const refusals = ['validation_failed', 'conflict'] as const;
const key = z.object({ id: Id });

export const listSchedules = defineOperation({
  name: 'schedule.list',
  ...reads,
  input: ListQuery,
  output: listOf(ListedSchedule),
  async run({ deps, ctx, input }) {
    const filter = { projectID: ctx.principal.projectId, is_deleted: false };
    const found = await listPage(deps.mongo.collections.schedules, filter, input);
    return { ...found, data: await toListed(deps, found.data) };
  },
});

export const readSchedule = defineOperation({
  name: 'schedule.read',
  ...reads,
  key,
  output: Schedule,
  run: async ({ deps, ctx, key: { id } }) => toSchedule(await findSchedule(deps, ctx.principal, id)),
});

/** Throws `not_found` (coworker, table), `validation_failed` (times, goal). */
export const createSchedule = defineOperation({
  name: 'schedule.create',
  ...writes,
  facts: textFacts('coworker_id', 'type'),
  causes: [{ operation: startRules, calls: ({ coworker_id }) => startsOf([coworker_id]) }],
  input: NewSchedule,
  output: Schedule,
  errors: ['not_found', 'validation_failed', 'plan_limit', 'unavailable'],
  async run({ deps, ctx: { principal, recordId }, input }) {
    await deps.customers.requireFeature(principal.organizationId, 'scheduling_and_cron_jobs');
    await findAgentflow(deps.mongo.collections, principal, input.coworker_id);
    if (input.table != null) await readTable(deps.mongo, principal.projectId, input.table);
    const at = epochSeconds();
    const record: ScheduleDocument = {
      _id: recordId,
      projectID: principal.projectId,
      organization_id: principal.organizationId,
      authority: authorityOf(principal),
      coworker_id: input.coworker_id,
      created_by: principal.userId,
      created_at: at,
      updated_at: null,
      goal: toGoal(input.goal),
      ...timesOf(input),
      status: input.status,
      count: 0,
      limit: input.limit ?? null,
      table: input.table ?? null,
      conclusion: null,
      last_coworker_execution_id: null,
      last_record_id: null,
      task_id: '',
      overlap: input.overlap ?? 'skip',
      catchup_window: input.catchup_window ?? defaultCatchupSeconds,
      jitter: input.jitter ?? 0,
      pause_on_failure: input.pause_on_failure ?? false,
      ...(input.channel !== undefined && { channel: input.channel }),
      reason: input.status === 'paused' ? pausedOnRequest : null,
      pauses: input.status === 'paused' ? pausedSince({ pauses: [] }, at) : [],
      ...{ is_deleted: false, revision: 0, changes: [], before: null, times_since: at, counted: [] },
      changed_at: Date.now(),
    };
    await change(deps, principal, recordId, recordId, { kind: 'create', record: { ...record } });
    return toSchedule(await findSchedule(deps, principal, recordId));
  },
});

export const updateSchedule = defineOperation({
  name: 'schedule.update',
  ...writes,
  facts: textFacts('id', 'status'),
  causes: [
    {
      operation: startRules,
      when: 'unless it only pauses the schedule',
      calls: (input, coworkerId) => (onlyPauses(input) ? [] : startsOf([coworkerId])),
    },
  ],
  key,
  subject: ({ deps, ctx, key: { id } }) => coworkerOf(deps, ctx.principal, id),
  input: SchedulePatch,
  output: Schedule,
  errors: ['conflict', 'validation_failed', 'unavailable'],
  async run({ deps, ctx: { principal, recordId }, key: { id }, input }) {
    const record = await findSchedule(deps, principal, id);
    if (input.table != null) await readTable(deps.mongo, principal.projectId, input.table);
    const { projectID: _checked, expected, goal, type, frequency, schedule, ends_at, status, reason, ...plain } = input;
    const at = epochSeconds();
    const isRetimed = type !== undefined || frequency !== undefined || schedule !== undefined;
    const times = isRetimed || ends_at !== undefined ? timesOf(timesAfter(record, input)) : undefined;
    // Other fields are absent, so that a concurrent change of them stays.
    const timeFields = times && {
      ...(isRetimed && { type: times.type, frequency: times.frequency, schedule: times.schedule, times_since: at }),
      ...(times.ends_at !== record.ends_at && { ends_at: times.ends_at }),
    };
    const isOver = firstTimeAfter(times ?? record, at) === Infinity;
    const isCompleted = statusOf(record) === 'completed';
    const isReopened = isCompleted && !isOver && !isLimited(record, times?.type ?? record.type, plain.limit);
    if (status !== undefined && isCompleted && !isReopened)
      throw new AppError('conflict', 'the schedule is completed: set a new time, a later end or a higher limit');
    if (status === 'active' && isOver)
      throw new AppError('conflict', 'the last time of the schedule has passed: set a new time or a later end');
    // A schedule acts on behalf of its owner. If the owner has lost the authority, whoever resumes it becomes the owner.
    const isTakenOver =
      status === 'active' &&
      (await whyPowerless(deps.mongo.collections, makerOf(record), workOfSchedule)) !== undefined;
    const fields: Partial<ScheduleDocument> = {
      ...(isTakenOver && { created_by: principal.userId, authority: authorityOf(principal) }),
      ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
      ...(goal !== undefined && { goal: toGoal(goal) }),
      ...timeFields,
      ...(isReopened && { status: 'active' as const }),
      ...(status !== undefined && { status, reason: status === 'paused' ? (reason ?? pausedOnRequest) : null }),
      updated_at: at,
    };
    const isEdit =
      status === 'active' ||
      goal !== undefined ||
      times !== undefined ||
      Object.values(plain).some((value) => value !== undefined);
    await change(deps, principal, id, recordId, {
      kind: 'update',
      fields,
      ...(isEdit && { by: principal.userId }),
      ...(expected !== undefined && { expected }),
    });
    return toSchedule(await findSchedule(deps, principal, id));
  },
});

function onlyPauses({
  id: _id,
  status,
  reason: _reason,
  expected: _compared,
  ...others
}: Readonly<Record<string, unknown>>): boolean {
  return status === 'paused' && Object.values(others).every((value) => value === undefined);
}

/** The times after a change. A schedule of another type keeps only its end. */
function timesAfter(record: ScheduleDocument, change: z.infer<typeof SchedulePatch>): Parameters<typeof timesOf>[0] {
  const { type = record.type } = change;
  const kept = type === record.type ? record : undefined;
  return {
    type,
    frequency: change.frequency ?? kept?.frequency,
    schedule: change.schedule ?? kept?.schedule,
    ends_at: change.ends_at === undefined && type !== 'once' ? record.ends_at : change.ends_at,
  };
}

/** Whether the limit of a completed schedule still prevents further runs after a change. A new time of `once` has no limit. */
function isLimited(
  { limit: before, count, pauses }: ScheduleDocument,
  type: Schedule['type'],
  limit: number | null | undefined,
): boolean {
  if (type === 'once' || limit === null) return false;
  if (limit !== undefined) return limit <= (before ?? count);
  return before !== null && pauses.some(({ reason, to }) => reason === 'limit' && to === null);
}

/** Returns the last record. */
export const deleteSchedule = defineOperation({
  name: 'schedule.delete',
  ...writes,
  facts: textFacts('id'),
  key,
  output: Schedule,
  errors: ['unavailable'],
  async run({ deps, ctx: { principal, recordId }, key: { id } }) {
    await findSchedule(deps, principal, id);
    await change(deps, principal, id, recordId, { kind: 'delete' });
    const last = await deps.mongo.collections.schedules.findOne({ _id: id });
    if (!last) throw notFound('the schedule');
    return toSchedule(last);
  },
});

export const triggerSchedule = defineOperation({
  name: 'schedule.trigger',
  effect: 'write',
  grant: 'svc:agent.run',
  right: ['edit'],
  facts: textFacts('id'),
  causes: [startOfCoworker],
  key,
  subject: ({ deps, ctx, key: { id } }) => coworkerOf(deps, ctx.principal, id),
  output: Schedule,
  errors: ['unavailable'],
  async run({ deps, ctx: { principal, recordId }, key: { id } }) {
    const record = await findSchedule(deps, principal, id);
    await trigger(deps.temporal, record, recordId, principal.userId);
    return toSchedule(record);
  },
});

/** @throws AppError `validation_failed` for an invalid template */
function toGoal(goal: NewSchedule['goal']): Schedule['goal'] {
  const whole =
    typeof goal === 'string' ? { template: goal, display_template: JSON.stringify([{ text: goal }]) } : goal;
  const problem = syntaxProblem(whole.template);
  if (problem !== undefined)
    throw new AppError('validation_failed', `goal: is not a valid Liquid template: ${problem}`);
  return whole;
}

/**
 * Sends the change to the workflow of its schedule and waits for the result. Idempotent by `changeId`.
 * @throws AppError `validation_failed` if Temporal refuses the change, `unavailable` if Temporal or a worker does not answer;
 *   an accepted change is applied even then
 */
async function change(
  deps: Deps,
  principal: Principal,
  id: string,
  changeId: string,
  what: ScheduleChange,
): Promise<void> {
  const workflowId = scheduleChangeId(id);
  const options = {
    workflowId,
    taskQueue: deps.temporal.taskQueue,
    staticSummary: `Change schedule ${id}`,
    typedSearchAttributes: attributePairs({ projectId: principal.projectId, organizationId: principal.organizationId }),
    args: [{ schedule_id: id }] as [ScheduleChangesInput],
    signal: changeSignal,
    signalArgs: [{ schedule_id: id, change_id: changeId, change: what }] as [ScheduleChangeInput],
  };
  const { signaledRunId } = await deps.temporal.call((client) =>
    client.workflow.signalWithStart(scheduleChangeType, options),
  );
  const outcomes = await deps.temporal.callWorker((client) =>
    client.workflow.getHandle<ScheduleChanges>(workflowId, signaledRunId).result(),
  );
  const refusal = outcomes.find((outcome) => outcome.change_id === changeId)?.refusal;
  if (!refusal) return;
  const code = refusals.find((each) => each === refusal.type);
  throw new AppError(code ?? 'unavailable', refusal.message);
}
