import type { Filter } from 'mongodb';
import type { Audit } from '../../governance/audit/audit.js';
import { forEachDue } from '../../governance/for-each-due.js';
import type { Logger } from '../../log.js';
import { epochSeconds } from '../../base/time.js';
import { filterOfState, isNoSlice } from './operations/filter.js';
import type { ExecutionDocument } from './record.js';
import { maxRemoved, removeExecutions, type RemovalDeps } from './remove-executions.js';

interface RetentionDeps extends RemovalDeps {
  audit: Pick<Audit, 'append'>;
  log: Logger;
}

const daySeconds = 24 * 3600;
/** How often the executions of a project are looked through. */
const pauseSeconds = 3600;
/** The maximum number of executions of a project and state that are removed before other projects are. */
const maxPerTurn = 500;
const states = ['completed', 'failed', 'cancelled'] as const;
type State = (typeof states)[number];

/** Removes executions that ended longer ago than the settings of their project allow. Any number of processes can do so. */
export function createRetentionSweep(deps: RetentionDeps): (now?: number) => Promise<void> {
  const { settings } = deps.mongo.collections;
  return async (now = epochSeconds()) => {
    const due = { retention_due_at: { $lte: now } };
    const pause = () => pauseSeconds;
    await forEachDue(
      { collection: settings, due, at: 'retention_due_at', pause, log: deps.log, now },
      async ({ _id, execution_retention }) => {
        let hasMore = false;
        for (const state of states) {
          const days = execution_retention?.[`${state}_days`] ?? null;
          if (days === null) continue;
          const count = await removeOlder(deps, _id, state, now - days * daySeconds);
          hasMore ||= count === maxPerTurn;
        }
        if (hasMore) await settings.updateOne({ _id }, { $set: { retention_due_at: now } });
      },
    );
  };
}

/** Removes the oldest executions that ended before `until`, and writes one audit entry. @returns how many */
async function removeOlder(deps: RetentionDeps, projectID: string, state: State, until: number): Promise<number> {
  const { executions } = deps.mongo.collections;
  const older: Filter<ExecutionDocument> = {
    ...{ projectID, ...filterOfState[state], ...isNoSlice },
    // An index has the time of creation.
    ...{ created_at: { $lt: until }, end_time: { $lt: until } },
  };
  let count = 0;
  let organizationId: string | undefined;
  while (count < maxPerTurn) {
    const found = await executions
      .find(older, { projection: { files: 1, organization_id: 1 } })
      .sort({ created_at: 1 })
      .limit(Math.min(maxRemoved, maxPerTurn - count))
      .toArray();
    if (found.length === 0) break;
    await removeExecutions(deps, found);
    organizationId = found[0]?.organization_id;
    count += found.length;
  }
  if (organizationId !== undefined)
    await deps.audit.append({
      ...{ organization_id: organizationId, actor: 'service', lifecycle_id: null },
      action: 'execution.expire',
      resource: `project:${projectID}`,
      outcome: `completed: deleted ${count} ${state} executions that ended before ${new Date(until * 1000).toISOString()}`,
    });
  return count;
}
