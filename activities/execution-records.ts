import { Context } from '@temporalio/activity';
import type { Charge, Customers } from '../src/customers/customers.js';
import type { Metrics } from '../src/observability/metrics.js';
import type { Collections } from '../src/stores/collections.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { AgentflowExecutionActivities, ExecutionProjection } from '../workflows/agentflow-execution/activities.js';

interface ExecutionRecordDeps {
  mongo: Mongo;
  customers: Customers;
  metrics: Pick<Metrics, 'executionMoved'>;
}

type ExecutionRecordActivities = Pick<AgentflowExecutionActivities, 'publishExecution' | 'cancelOwnRun'>;

/**
 * Writes an execution's projection: events first, so that a record never counts an event that is not there. Every
 * change of state has its event, so the guard keeps a write that was thought lost from undoing a newer one.
 */
export function createExecutionRecordActivities({ mongo, customers, metrics }: ExecutionRecordDeps): ExecutionRecordActivities {
  const { executions, execution_events } = mongo.collections;
  return {
    async publishExecution(projection) {
      const { execution_id, events } = projection;
      // First: a write that dies here is made again from its beginning, so that nothing is shown that was not charged.
      await chargeFor(projection, { customers, executions });
      if (events.length > 0) {
        await execution_events.bulkWrite(
          events.map((event) => {
            const _id = `${execution_id}:${event.seq}`;
            return { replaceOne: { filter: { _id }, replacement: { execution_id, ...event }, upsert: true } };
          }),
        );
      }
      const guard = { _id: execution_id, last_event_seq: { $lte: projection.last_event_seq } };
      const before = await executions.findOneAndUpdate(guard, { $set: fieldsOf(projection) }, { projection: { status: 1 }, returnDocument: 'before' });
      if (before && before.status !== projection.status) metrics.executionMoved(projection.status);
    },
    async cancelOwnRun() {
      const { client, info } = Context.current();
      const { workflowId, runId } = info.workflowExecution ?? {};
      if (workflowId !== undefined) await client.workflow.getHandle(workflowId, runId).cancel();
    },
  };
}

/**
 * The base deduction of an execution that has begun, the turns of each agent that has ended, and those that stand in no
 * output: once each, by their keys, however often this is repeated.
 */
async function chargeFor(projection: ExecutionProjection, { customers, executions }: { customers: Customers; executions: Collections['executions'] }): Promise<void> {
  const { execution_id: executionId, agents_output, spent = [] } = projection;
  const hasBegun = projection.events.some(({ type }) => type === 'started');
  if (!hasBegun && agents_output.length === 0 && spent.length === 0) return;
  const record = await executions.findOne({ _id: executionId }, { projection: { organization_id: 1, projectID: 1, agentflow_id: 1 } });
  if (!record) return;
  const { organization_id: organizationId, projectID: projectId, agentflow_id: agentflowId } = record;
  const place = { projectId, executionId, agentflowId };
  const charges = agents_output.map(({ index, value: { agent_id, model, usage } }): Charge => {
    return { ...place, key: `${executionId}/${agent_id}#${index}`, credits: 0, turns: { model, ...usage } };
  });
  for (const { key, ...turns } of spent) charges.push({ ...place, key: `${executionId}/${key}`, credits: 0, turns });
  if (hasBegun) {
    const { base_credit_deduction_per_execution: credits } = await customers.quotaOf(organizationId);
    charges.push({ ...place, key: executionId, credits, turns: null });
  }
  await customers.charge(organizationId, charges);
}

/** List entries are set at their index: a write that is repeated after a lost worker changes nothing. */
function fieldsOf(projection: ExecutionProjection): Record<string, unknown> {
  const { status, started_at, end_time, conclusion, failure, last_event_seq, previews, anomaly_detected, context = {} } = projection;
  return {
    status,
    started_at,
    end_time,
    conclusion,
    last_event_seq,
    ...(previews && { previews }),
    ...(anomaly_detected !== undefined && { anomaly_detected }),
    ...Object.fromEntries(Object.entries(context).map(([name, value]) => [`execution_context.${name}`, value])),
    ...(failure && { 'execution_context.failure': failure }),
    ...Object.fromEntries(projection.steps.map(({ index, value }) => [`steps.${index}`, value])),
    ...Object.fromEntries(projection.agents_output.map(({ index, value }) => [`agents_output.${index}`, value])),
  };
}
