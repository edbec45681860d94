import type { Deps } from '../src/domain/deps.js';
import { markCoworker, storeScheduleChange, undoScheduleChange } from '../src/domain/schedules/changes.js';
import { planRun, prepareRun, readRows } from '../src/domain/schedules/prepare-run.js';
import { recordExecution, recordRun } from '../src/domain/schedules/record-run.js';
import { applySchedule } from '../src/domain/schedules/temporal.js';
import type { CoworkerRunActivities } from '../workflows/coworker-run/activities.js';
import type { ScheduleChangeActivities } from '../workflows/schedule-change/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createScheduleActivities(deps: Deps): CoworkerRunActivities & ScheduleChangeActivities {
  return {
    planRun: (run) => planRun(deps, run),
    prepareRun: (request) => withHeartbeat(null, () => prepareRun(deps, request)),
    readRows: (request) => withHeartbeat(null, () => readRows(deps, request)),
    recordExecution: (execution) => recordExecution(deps, execution),
    recordRun: (run) => recordRun(deps, run),
    storeScheduleChange: (input) => withHeartbeat(null, () => storeScheduleChange(deps, input)),
    async applySchedule(id) {
      await withHeartbeat(null, () => applySchedule(deps, id));
      await markCoworker(deps, id);
    },
    undoScheduleChange: (input) => undoScheduleChange(deps, input),
  };
}
