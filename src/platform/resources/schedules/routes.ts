import { encodeScheduleOverlapPolicy } from '@temporalio/client';
import { z } from 'zod';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../../http/lists.js';
import { epochSeconds } from '../../../time.js';
import { shown } from './record.js';
import { listRuns } from './runs.js';
import { Backfill, NewSchedule, Schedule, SchedulePatch, ScheduleRuns } from './schemas.js';
import { createSchedule, deleteSchedule, readSchedule, updateSchedule } from './store.js';
import { fire, plannedAtMost, plannedBetween, timestamp } from './temporal.js';

const tag = 'schedules';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const runs = 'svc:agent.run';
const params = z.object({ id: z.string() });
const query = z.object({ projectID: z.string().optional() });

/** Schedules of coworkers, each a Temporal Schedule (contract, schedules; specification, Schedule). */
export function scheduleRoutes(deps: Deps): Route[] {
  return [...readRoutes(deps), ...changeRoutes(deps), ...fireRoutes(deps)];
}

function readRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/schedule/coworker',
      permission: reads,
      tag,
      query: ListQuery.extend(query.shape),
      summary: 'List the schedules of the project, newest first',
      response: { schema: listOf(Schedule), description: 'One page of schedules.' },
      async handler({ ctx, query: { projectID: _agrees, ...page } }) {
        const found = await listPage(deps.mongo.collections.schedules, { projectID: ctx.principal.projectId, is_deleted: false }, page);
        return { ...found, data: found.data.map(shown) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/schedule/coworker/{id}',
      permission: reads,
      tag,
      params,
      query,
      summary: 'Read a schedule',
      response: { schema: Schedule, description: 'The schedule.' },
      handler: async ({ ctx, params: { id } }) => shown(await readSchedule(deps, ctx.principal, id)),
    }),
    defineRoute({
      method: 'get',
      path: '/schedule/coworker/{id}/runs',
      permission: reads,
      tag,
      params,
      query: ListQuery.extend(query.shape),
      summary: 'List what fired and what was skipped or missed, and the next ten',
      description: 'Planned times of the last seven days are compared with what fired.',
      response: { schema: ScheduleRuns, description: 'The runs, newest first.' },
      handler: ({ ctx, params: { id }, query: { projectID: _agrees, ...page } }) => listRuns(deps, ctx.principal, id, page),
    }),
  ];
}

function changeRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/schedule/coworker',
      permission: changes,
      tag,
      query,
      summary: 'Schedule a coworker',
      description: 'Once at a time, at an interval, or by a cron text in a time zone. With `table`, one execution for each of its rows, whose values fill the goal template as `row`.',
      body: NewSchedule,
      response: { status: 201, schema: Schedule, description: 'The schedule.' },
      errors: ['not_found', 'validation_failed', 'plan_limit', 'unavailable'],
      idempotent: true,
      handler: ({ ctx, body }) => createSchedule(deps, ctx, body),
    }),
    defineRoute({
      method: 'patch',
      path: '/schedule/coworker/{id}',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Change the given fields of a schedule, pause it with a reason, or let it go on',
      body: SchedulePatch,
      response: { schema: Schedule, description: 'The schedule as changed.' },
      errors: ['conflict', 'validation_failed', 'unavailable'],
      handler: ({ ctx, params: { id }, body }) => updateSchedule(deps, ctx, id, body),
    }),
    defineRoute({
      method: 'delete',
      path: '/schedule/coworker/{id}',
      permission: changes,
      tag,
      params,
      query,
      summary: 'Delete a schedule',
      description: 'What it has started goes on.',
      response: { schema: Schedule, description: 'The last record.' },
      errors: ['unavailable'],
      handler: ({ ctx, params: { id } }) => deleteSchedule(deps, ctx, id),
    }),
  ];
}

function fireRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/schedule/coworker/{id}/trigger',
      permission: runs,
      tag,
      params,
      query,
      summary: 'Start a run now',
      description: 'Whatever else runs, and also while the schedule is paused.',
      response: { schema: Schedule, description: 'The schedule; the run is listed under `runs`.' },
      errors: ['unavailable'],
      idempotent: true,
      async handler({ ctx, params: { id } }) {
        const record = await readSchedule(deps, ctx.principal, id);
        await fire(deps.temporal, id, ctx.recordId, { triggerImmediately: { overlapPolicy: encodeScheduleOverlapPolicy('ALLOW_ALL') } });
        return shown(record);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/schedule/coworker/{id}/backfill',
      permission: runs,
      tag,
      params,
      query,
      summary: 'Run what was planned in a time that has passed',
      description: 'One run after the other, unless `overlap` is `allow_all`. A planned time that has fired does not fire again.',
      body: Backfill,
      response: { schema: z.object({ planned: z.array(z.number()) }).meta({ id: 'ScheduleBackfilled', example: { planned: [1763712000] } }), description: 'The planned times that are run.' },
      errors: ['validation_failed', 'unavailable'],
      idempotent: true,
      async handler({ ctx, params: { id }, body: { from, to } }) {
        const { overlap } = await readSchedule(deps, ctx.principal, id);
        if (to > epochSeconds()) throw new AppError('validation_failed', 'to: lies in the future');
        if (from >= to) throw new AppError('validation_failed', 'from: must lie before to');
        const planned = await plannedBetween(deps.temporal, id, from, to);
        if (planned.length >= plannedAtMost) throw new AppError('validation_failed', `${plannedAtMost} runs or more are planned in that time: ask for less at once`);
        const overlapPolicy = encodeScheduleOverlapPolicy(overlap === 'allow_all' ? 'ALLOW_ALL' : 'BUFFER_ALL');
        const range = { startTime: timestamp(from), endTime: timestamp(to), ...(overlapPolicy !== undefined && { overlapPolicy }) };
        if (planned.length > 0) await fire(deps.temporal, id, ctx.recordId, { backfillRequest: [range] });
        return { planned };
      },
    }),
  ];
}
