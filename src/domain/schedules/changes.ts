import type { ScheduleChangeInput } from '../../../workflows/schedule-change/messages.js';
import type { Deps } from '../deps.js';
import { AppError } from '../../base/errors.js';
import { pausesAfter } from './pauses.js';
import type { ScheduleDocument } from './record.js';

/** The number of recent changes and runs whose ids a schedule remembers. */
export const maxRemembered = 100;

/** Writes a change into the record. Safe to repeat. */
export async function storeScheduleChange(deps: Pick<Deps, 'mongo'>, request: ScheduleChangeInput): Promise<void> {
  const { schedule_id: _id, change_id, change } = request;
  const { schedules } = deps.mongo.collections;
  const changed_at = Date.now();
  const notYetChanged = { _id, changes: { $ne: change_id } };
  const written = { $inc: { revision: 1 }, $push: { changes: { $each: [change_id], $slice: -maxRemembered } } };
  if (change.kind === 'create') {
    const { _id: _same, ...fields } = change.record as unknown as ScheduleDocument;
    await schedules.updateOne(
      { _id },
      { $setOnInsert: { ...fields, revision: 1, changes: [change_id], changed_at } },
      { upsert: true },
    );
  } else if (change.kind === 'delete') {
    await schedules.updateOne(notYetChanged, { $set: { is_deleted: true, changed_at }, ...written });
  } else {
    const record = await schedules.findOne(notYetChanged);
    if (!record) return;
    if (change.expected !== undefined && change.expected !== record.updated_at)
      throw new AppError('conflict', 'expected: the schedule was changed since it was read; read it again');
    const fields = { ...change.fields, ...pausesAfter(record, change.fields) };
    const replaced = Object.fromEntries(
      Object.keys(fields).map((name) => [name, record[name as keyof ScheduleDocument] ?? null]),
    );
    const { matchedCount } = await schedules.updateOne(
      { ...notYetChanged, revision: record.revision },
      {
        $set: { ...fields, changed_at, before: { change_id, fields: replaced } },
        ...written,
        ...(change.by !== undefined && { $addToSet: { edited_by: change.by } }),
      },
    );
    // A run that ended in the meantime may have paused or completed the schedule.
    if (matchedCount === 0) return storeScheduleChange(deps, request);
  }
}

/** Reverts what `storeScheduleChange` wrote. */
export async function undoScheduleChange(
  { mongo }: Deps,
  { schedule_id: _id, change_id, change }: ScheduleChangeInput,
): Promise<void> {
  const { schedules } = mongo.collections;
  // A repeat of the request is refused again.
  if (change.kind === 'create') return void (await schedules.deleteOne({ _id }));
  const record = await schedules.findOne({ _id, 'before.change_id': change_id });
  const undone = { $inc: { revision: 1 }, $pull: { changes: change_id } };
  if (record?.before)
    await schedules.updateOne(
      { _id, 'before.change_id': change_id },
      { $set: { ...record.before.fields, before: null, changed_at: Date.now() }, ...undone },
    );
}

/** Updates the coworker's field that shows whether it has an active schedule by cron or calendar. */
export async function markCoworker({ mongo }: Deps, id: string): Promise<void> {
  const { schedules, agentflows } = mongo.collections;
  const schedule = await schedules.findOne({ _id: id });
  if (!schedule) return;
  const active = await schedules.countDocuments({
    projectID: schedule.projectID,
    coworker_id: schedule.coworker_id,
    type: { $in: ['cron', 'calendar'] },
    status: 'active',
    is_deleted: false,
  });
  await agentflows.updateOne({ _id: schedule.coworker_id }, { $set: { is_cron_scheduled: active > 0 } });
}
