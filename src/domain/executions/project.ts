import type { ExecutionProjection } from '../../../workflows/agentflow-execution/activities.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Collections } from '../../stores/collections.js';
import { createGroupedWrites } from '../../stores/grouped-writes.js';
import { toStorable } from '../../stores/storable.js';
import type { Charge, Customers } from '../customers/record.js';

export interface ProjectDeps {
  collections: Pick<Collections, 'executions' | 'execution_events'>;
  customers: Pick<Customers, 'charge'>;
  metrics: Pick<Metrics, 'executionMoved'>;
}

/** The states that events lead to. */
const stateAfter: ReadonlyMap<string, string> = new Map([
  ['started', 'running'],
  ['paused', 'paused'],
  ['resumed', 'running'],
  ['completed', 'completed'],
  ['failed', 'failed'],
]);

type ProjectExecution = (projection: ExecutionProjection, runId: string) => Promise<void>;

/**
 * Writes what is new in a run of an execution: charges and events first, then the record, so that the record never shows
 * what was not charged and never counts a missing event. Repeating a write changes nothing, and a delayed write does not
 * overwrite a later one. Runs share their writes.
 */
export function createProjector({ collections, customers, metrics }: ProjectDeps): ProjectExecution {
  const { executions } = collections;
  const writeEvents = createGroupedWrites(collections.execution_events);
  const writeRecords = createGroupedWrites(executions);

  async function storeEvents({ execution_id, events }: ExecutionProjection): Promise<void> {
    const areNew = await writeEvents(
      events.map((event) => {
        const _id = `${execution_id}:${event.seq}`;
        return { replaceOne: { filter: { _id }, replacement: { execution_id, ...event }, upsert: true } };
      }),
    );
    for (const [index, { type }] of events.entries()) {
      const state = stateAfter.get(type);
      if (areNew[index] === true && state !== undefined) metrics.executionMoved(state);
    }
  }

  return async (received, runId) => {
    const projection = toStorable(received);
    const { execution_id: _id, projected_at } = projection;
    await Promise.all([chargeFor(projection, customers), storeEvents(projection)]);
    const isNewer = { $or: [{ projected_at: { $lte: projected_at } }, { projected_at: null }] };
    // A terminated run may still have a pending write after its end was recorded by the product.
    const filter = { _id, ended_run: { $ne: runId }, ...isNewer };
    const update = { $set: { ...fieldsOf(projection), changed_at: Date.now() } };
    await writeRecords([{ updateOne: { filter, update } }]);
  };
}

/**
 * Charges the base deduction of an execution that has started, the turns of each agent that has finished, and turns
 * that are not part of an output. Each charge has a key, so that repeats do not charge twice.
 */
async function chargeFor(projection: ExecutionProjection, customers: Pick<Customers, 'charge'>): Promise<void> {
  const { execution_id: executionId, agents_output, spent, part_of } = projection;
  const hasBegun = part_of === undefined && projection.events.some(({ type }) => type === 'started');
  if (!hasBegun && agents_output.length === 0 && spent.length === 0) return;
  const { organization_id, project_id: projectId, agentflow_id: agentflowId } = projection;
  const place = { projectId, agentflowId, executionId: part_of ?? executionId };
  const charges = agents_output.map(({ index, value: { agent_id, model, usage } }): Charge => {
    return { ...place, key: `${executionId}/${agent_id}#${index}`, credits: 0, turns: { model, ...usage } };
  });
  for (const { key, ...turns } of spent) charges.push({ ...place, key: `${executionId}/${key}`, credits: 0, turns });
  if (hasBegun) charges.push({ ...place, key: executionId, credits: 'base', turns: null });
  await customers.charge(organization_id, charges);
}

/** Sets list entries at their index, so that repeating a write changes nothing. */
function fieldsOf(projection: ExecutionProjection): Record<string, unknown> {
  const { status, started_at, end_time, conclusion, failure, last_event_seq, projected_at } = projection;
  const { previews, anomaly_detected, context } = projection;
  return {
    status,
    started_at,
    end_time,
    conclusion,
    last_event_seq,
    projected_at,
    previews,
    anomaly_detected,
    ...Object.fromEntries(Object.entries(context).map(([name, value]) => [`execution_context.${name}`, value])),
    ...(failure && { 'execution_context.failure': failure }),
    ...Object.fromEntries(projection.steps.map(({ index, value }) => [`steps.${index}`, value])),
    ...Object.fromEntries(projection.agents_output.map(({ index, value }) => [`agents_output.${index}`, value])),
  };
}
