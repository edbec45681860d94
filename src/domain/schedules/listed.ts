import { scheduleId } from '../../../workflows/coworker-run/messages.js';
import { pick } from '../../base/pick.js';
import { onScheduleIfAny } from '../../temporal/client.js';
import type { Deps } from '../deps.js';
import { statusOf, toSchedule, type ScheduleDocument } from './record.js';
import { maxNextTimes } from './runs.js';
import type { ListedSchedule } from './schemas.js';

/** The number of schedules about which the stores are asked at the same time. */
const maxAtOnce = 10;

/**
 * Adds the next times and the latest run to the schedules of a page. Only Temporal has the next times: if it does not
 * answer, they are null, and it is not asked about the remaining schedules.
 */
export async function toListed(deps: Deps, records: readonly ScheduleDocument[]): Promise<ListedSchedule[]> {
  const listed: ListedSchedule[] = [];
  let answers = true;
  while (listed.length < records.length) {
    const group = records.slice(listed.length, listed.length + maxAtOnce);
    const next: number[][] | undefined = answers ? await nextTimes(deps, group).catch(() => undefined) : undefined;
    answers = next !== undefined;
    const latest = await Promise.all(group.map(({ _id }) => latestRun(deps, _id)));
    listed.push(
      ...group.map((record, at) => ({
        ...toSchedule(record),
        next_times: statusOf(record) === 'active' ? (next?.[at] ?? null) : [],
        latest_run: latest[at] ?? null,
        temporal_ui_url: deps.temporal.scheduleUiLink(scheduleId(record._id)),
      })),
    );
  }
  return listed;
}

/** The next times of each schedule, in epoch seconds. */
function nextTimes({ temporal }: Deps, group: readonly ScheduleDocument[]): Promise<number[][]> {
  return Promise.all(
    group.map(async (record) => {
      if (statusOf(record) !== 'active') return [];
      const live = await onScheduleIfAny(temporal, scheduleId(record._id), (handle) => handle.describe());
      return (live?.info.nextActionTimes ?? []).slice(0, maxNextTimes).map((at) => at.getTime() / 1000);
    }),
  );
}

async function latestRun({ mongo }: Deps, id: string): Promise<ListedSchedule['latest_run']> {
  const run = await mongo.collections.schedule_runs.findOne({ schedule_id: id }, { sort: { scheduled_for: -1 } });
  return run && pick(run, 'scheduled_for', 'started_at', 'ended_at', 'status', 'error');
}
