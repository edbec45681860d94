import * as schedules from '../../domain/schedules/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('schedules');

/** Schedules of coworkers. Each one is a Temporal Schedule (contract, schedules; specification, Schedule). */
export const scheduleRoutes: readonly Route[] = [
  route('GET /schedule/coworker', schedules.listSchedules, {
    summary: 'List the schedules of the project, newest first',
    description: 'Each schedule has its next times and its latest run.',
    response: { description: 'One page of schedules.' },
  }),
  route('GET /schedule/coworker/{id}', schedules.readSchedule, {
    summary: 'Read a schedule',
    response: { description: 'The schedule.' },
  }),
  route('GET /schedule/coworker/{id}/runs', schedules.listRuns, {
    summary: 'List runs, skipped and missed times, and the next ten times',
    description: 'Skipped and missed times cover the last seven days.',
    response: { description: 'The runs, newest first.' },
  }),
  route('GET /schedule/coworker/{id}/times', schedules.listTimes, {
    summary: 'List the planned times of a past or coming range',
    description:
      'Includes the times of a paused schedule. A backfill of a past range runs the times that have not fired. `from` and `to` are inclusive.',
    response: { description: 'The planned times, oldest first.' },
  }),
  route('POST /schedule/coworker', schedules.createSchedule, {
    summary: 'Schedule a coworker',
    description:
      'Runs once, at an interval, by a cron expression, or at times of day on days of a calendar, both with a time zone. `ends_at` ends it. With `table`, it runs one execution for each row, whose values are available as `row` in the goal template.',
    response: { status: 201, description: 'The schedule.' },
    idempotent: true,
  }),
  route('PATCH /schedule/coworker/{id}', schedules.updateSchedule, {
    summary: 'Change the given fields of a schedule, pause it with a reason, or resume it',
    response: { description: 'The changed schedule.' },
  }),
  route('DELETE /schedule/coworker/{id}', schedules.deleteSchedule, {
    summary: 'Delete a schedule',
    description: 'Running executions continue.',
    response: { description: 'The last record.' },
  }),
  route('POST /schedule/coworker/{id}/trigger', schedules.triggerSchedule, {
    summary: 'Start a run now',
    description: 'Also if another run is in progress or the schedule is paused.',
    response: { description: 'The schedule. `runs` lists the new run.' },
    idempotent: true,
  }),
  route('POST /schedule/coworker/{id}/backfill', schedules.backfillSchedule, {
    summary: 'Run the planned times of a past range',
    description:
      'Runs one after another unless `overlap` is `allow_all`. A planned time that has already fired does not fire again. `from` and `to` are inclusive.',
    response: { description: 'The planned times that will run, or the reason why there are none.' },
    idempotent: true,
  }),
];
