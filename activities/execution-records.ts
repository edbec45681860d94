import { Context } from '@temporalio/activity';
import type { Metrics } from '../src/observability/metrics.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { AgentflowExecutionActivities, ExecutionProjection } from '../workflows/agentflow-execution/activities.js';

type ExecutionRecordActivities = Pick<AgentflowExecutionActivities, 'publishExecution' | 'cancelOwnRun'>;

/**
 * Writes an execution's projection: events first, so that a record never counts an event that is not there. Every
 * change of state has its event, so the guard keeps a write that was thought lost from undoing a newer one.
 */
export function createExecutionRecordActivities({ mongo, metrics }: { mongo: Mongo; metrics: Pick<Metrics, 'executionMoved'> }): ExecutionRecordActivities {
  const { executions, execution_events } = mongo.collections;
  return {
    async publishExecution(projection) {
      const { execution_id, events } = projection;
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
