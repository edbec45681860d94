import { cancelWorkflow } from '../../temporal/client.js';
import type { Deps } from '../deps.js';
import { applySchedule } from './temporal.js';

/** Deletes the schedules of a deleted project and cancels their runs. Safe to repeat. */
export async function removeSchedules(deps: Deps, projectID: string): Promise<void> {
  const { schedules, schedule_runs } = deps.mongo.collections;
  await schedules.updateMany(
    { projectID, is_deleted: false },
    { $set: { is_deleted: true, changed_at: Date.now() }, $inc: { revision: 1 } },
  );
  for await (const { _id } of schedules.find({ projectID }, { projection: { _id: 1 } })) {
    await applySchedule(deps, _id);
    // Otherwise, a run over the rows of a table would process the remaining rows.
    for await (const run of schedule_runs.find({ schedule_id: _id, status: 'running' }, { projection: { _id: 1 } }))
      await cancelWorkflow(deps.temporal, run._id);
  }
}
