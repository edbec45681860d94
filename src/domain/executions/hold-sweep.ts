import type { RoleChangeDocument } from '../../auth/role-changes.js';
import { forEachDue } from '../../governance/for-each-due.js';
import type { Logger } from '../../log.js';
import { epochSeconds } from '../../base/time.js';
import { holdRun, refusalToRun, type HoldDeps } from './operations/hold.js';

/** The sweep looks soon after a change, and then less often. */
const firstPauseSeconds = 5;
const longestPauseSeconds = 120;

/**
 * Holds the open runs of people whose role was removed or no longer permits them. A run also notices this itself before
 * its next step; this sweep finds runs that wait. Any number of processes can sweep.
 */
export function createHoldSweep(deps: HoldDeps & { log: Logger }): (now?: number) => Promise<void> {
  const { role_changes } = deps.collections;
  return async (now = epochSeconds()) => {
    const due = { next_at: { $lte: now } };
    await forEachDue(
      { collection: role_changes, due, at: 'next_at', pause: pauseAfter, log: deps.log, now },
      async (change) => {
        await holdRunsOf(deps, change);
        if (change.until < now) await role_changes.deleteOne({ _id: change._id });
      },
    );
  };
}

function pauseAfter(attempts: number): number {
  return Math.min(firstPauseSeconds * 2 ** attempts, longestPauseSeconds);
}

async function holdRunsOf(deps: HoldDeps, { user_id, organization_id, project_id }: RoleChangeDocument): Promise<void> {
  const { executions, projects } = deps.collections;
  const places =
    project_id === null
      ? (await projects.find({ organization_id }, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id)
      : [project_id];
  const open = {
    projectID: { $in: places },
    'executed_by._id': user_id,
    status: { $in: ['running' as const, 'paused' as const] },
  };
  const fields = { projectID: 1, organization_id: 1, executed_by: 1, status: 1 };
  const failures: unknown[] = [];
  for await (const run of executions.find(open, { projection: fields }))
    try {
      const reason = await refusalToRun(deps.collections, run);
      if (reason !== undefined) await holdRun(deps, run, reason);
    } catch (error) {
      // The other runs of the person are held all the same.
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
}
