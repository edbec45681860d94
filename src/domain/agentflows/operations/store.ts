import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import { readFresh } from '../../../stores/fresh-reads.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { untilWritten } from '../../../stores/until-written.js';
import { epochSeconds } from '../../../base/time.js';
import type { Customers } from '../../customers/record.js';
import type { Deps } from '../../deps.js';
import { pickShown } from '../../../base/pick.js';
import { Agentflow, type AgentflowDocument, type EditedAgentflow } from '../record.js';
import { contentDigest } from '../rules.js';

const reviseTimeoutMs = 5_000;

/** @throws AppError `not_found` for an unknown, malformed or deleted id, and for an agentflow of another project */
export async function findAgentflow(
  collections: Collections,
  principal: Principal,
  id: string,
): Promise<AgentflowDocument> {
  const agentflow = await readFresh(collections.agentflows, id);
  if (!agentflow || agentflow.is_deleted || agentflow.projectID !== principal.projectId)
    throw notFound('the agentflow');
  return agentflow;
}

/** @throws AppError `plan_limit` if the plan does not allow another agentflow, this many agents, or a requested feature */
export async function storeAgentflow(
  deps: Pick<Deps, 'mongo' | 'customers'>,
  agentflow: AgentflowDocument,
): Promise<AgentflowDocument> {
  await refuseBeyondPlan(deps.customers, agentflow);
  await deps.customers.reserve(agentflow.organization_id, 'number_of_coworkers', agentflow._id);
  return insertOnce(deps.mongo.collections.agentflows, agentflow);
}

/** @throws AppError `plan_limit` */
export async function refuseBeyondPlan(
  customers: Customers,
  { organization_id, agents, anomaly_detection }: AgentflowDocument,
): Promise<void> {
  await customers.refuseBeyond(organization_id, 'number_of_agents_per_coworker', agents.length);
  if (anomaly_detection.is_enabled) await customers.requireFeature(organization_id, 'anomaly_detection');
}

/**
 * Updates the agentflow with optimistic locking: retries if another change was written in between.
 * Excludes the fields that executions (`last_used`), releases (`latest_version`, `channels`, `promoted_version`) and
 * schedules (`is_cron_scheduled`) write.
 */
export async function reviseAgentflow(
  collections: Collections,
  principal: Principal,
  id: string,
  change: (current: AgentflowDocument) => AgentflowDocument | Promise<AgentflowDocument>,
): Promise<AgentflowDocument> {
  const attempt = async (): Promise<AgentflowDocument | undefined> => {
    const current = await findAgentflow(collections, principal, id);
    const next = await change(current);
    if (next === current) return current;
    const edited_by = [...new Set([...current.edited_by, principal.userId])];
    const { _id, last_used: _used, is_cron_scheduled: _scheduled, ...own } = next;
    const { latest_version: _latest, channels: _channels, promoted_version: _promoted, ...content } = own;
    const written = await collections.agentflows.findOneAndUpdate(
      { _id, revision: current.revision },
      {
        $set: {
          ...content,
          edited_by,
          updated_by: principal.userId,
          updated_at: epochSeconds(),
          revision: current.revision + 1,
        },
      },
      { returnDocument: 'after' },
    );
    return written ?? undefined;
  };
  const late = () => new AppError('conflict', 'too many concurrent changes to the agentflow; try again');
  return untilWritten(reviseTimeoutMs, attempt, late);
}

export function toAgentflow(record: AgentflowDocument): Agentflow {
  return pickShown(Agentflow, record);
}

/** The agentflow with what a change of it is based on. */
export function toEditedAgentflow(record: AgentflowDocument): EditedAgentflow {
  const agentflow = toAgentflow(record);
  const { updated_by } = record;
  return { ...agentflow, ...(updated_by !== undefined && { updated_by }), digest: contentDigest(agentflow) };
}
