import { ScheduleOverlapPolicy } from '@temporalio/client';
import { z } from 'zod';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../../http/lists.js';
import { shown } from './record.js';
import { listRuns } from './runs.js';
import { Backfill, NewSchedule, Schedule, SchedulePatch, ScheduleRuns } from './schemas.js';
import { createSchedule, deleteSchedule, readSchedule, updateSchedule } from './store.js';
import { onSchedule, plannedBetween } from './temporal.js';

const tag = 'schedules';
const reads = 'svc:orchestrate.read';
const changes = 'svc:orchestrate.write';
const runs = 'svc:agent.run';
const params = z.object({ id: z.string() });
const query = z.object({ projectID: z.string().optional() });
const backfilledAtMost = 1000;

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
      errors: ['validation_failed', 'plan_limit', 'unavailable'],
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
      errors: ['validation_failed', 'unavailable'],
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
        await onSchedule(deps.temporal, id, (handle) => handle.trigger(ScheduleOverlapPolicy.ALLOW_ALL));
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
      description: 'One run after the other. `from` and `to` are epoch seconds.',
      body: Backfill,
      response: { schema: z.object({ planned: z.array(z.number()) }).meta({ id: 'ScheduleBackfilled', example: { planned: [1763712000] } }), description: 'The planned times that are run.' },
      errors: ['validation_failed', 'unavailable'],
      idempotent: true,
      async handler({ ctx, params: { id }, body: { from, to } }) {
        await readSchedule(deps, ctx.principal, id);
        if (from >= to) throw new AppError('validation_failed', 'from: must lie before to');
        const planned = await plannedBetween(deps.temporal, id, from, to);
        if (planned.length > backfilledAtMost) throw new AppError('validation_failed', `${planned.length} runs are planned in that time, at most ${backfilledAtMost} are backfilled`);
        const range = { start: new Date(from * 1000), end: new Date(to * 1000), overlap: ScheduleOverlapPolicy.BUFFER_ALL };
        if (planned.length > 0) await onSchedule(deps.temporal, id, (handle) => handle.backfill(range));
        return { planned };
      },
    }),
  ];
}
