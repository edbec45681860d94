import { loadSchedulesOf } from './domain/connectors/operations/setup.js';
import { isLoaded } from './domain/connectors/record.js';
import type { Deps } from './domain/deps.js';
import { applySchedule } from './domain/schedules/temporal.js';

/**
 * Seals the inputs of the Temporal Schedules that an earlier release created, because workflows obey no others (decision
 * 0117). Takes them from the records, because anybody could have changed what Temporal stores.
 */
export async function sealSchedules(deps: Deps): Promise<void> {
  const { collections } = deps.mongo;
  await deps.temporal.trust.untilSchedulesAreSealed(async () => {
    for await (const { _id } of collections.schedules.find({ is_deleted: { $ne: true } }))
      await applySchedule(deps, _id);
    const loads = loadSchedulesOf(deps);
    for await (const connector of collections.connectors.find({})) {
      if (isLoaded(connector)) await loads.align(connector._id);
    }
  });
}
