import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import {
  agentflowExecutionType,
  endCodes,
  executionWorkflowId,
  type ExecutionConclusion,
  type ExecutionEvent,
  type ExecutionFailure,
} from '../../../workflows/agentflow-execution/messages.js';
import { notFound } from '../../base/errors.js';
import { withdrawApprovals } from '../../governance/approvals/withdraw.js';
import type { Governance } from '../../governance/create-governance.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Mongo } from '../../stores/mongo.js';
import { isWorkflowGone, type Temporal } from '../../temporal/client.js';
import { epochSeconds } from '../../base/time.js';
import { withdrawQuestions } from './ask-person.js';
import { isOver, type ExecutionDocument } from './record.js';

type Preview = ExecutionDocument['previews'][string];

export interface ReconcileDeps {
  mongo: Mongo;
  temporal: Temporal;
  metrics: Metrics;
  governance: Pick<Governance, 'audit'>;
}

/** How a run ended. `runId` is null if Temporal no longer has the run. */
type End = { runId: string | null } & (
  { conclusion: ExecutionConclusion } | { failure: Pick<ExecutionFailure, 'reason' | 'code' | 'message'> }
);

/**
 * Records the end of a run whose workflow could not do so, because it was terminated, exceeded a server limit, or is
 * missing on a restored server. Does not change an open run. The end follows `shown`, the newest events that viewers
 * have and that may not be in the store. @returns the current record
 */
export async function reconcile(
  deps: ReconcileDeps,
  { _id }: Pick<ExecutionDocument, '_id'>,
  shown: readonly ExecutionEvent[] = [],
): Promise<ExecutionDocument> {
  const { executions, execution_events } = deps.mongo.collections;
  const withdraw = async () => {
    await withdrawApprovals({ ...deps, ...deps.mongo, ...deps.governance }, _id);
    await withdrawQuestions(deps.mongo.collections, { execution_id: _id });
  };
  const end = await endOf(deps, _id);
  for (;;) {
    const record = await executions.findOne({ _id });
    if (!record) throw notFound('the execution');
    if (!end || isOver(record.status)) return record;
    // Before the record, because a run whose end is recorded is not reconciled again; and after it, for a step that asks meanwhile.
    await withdraw();
    const at = epochSeconds();
    const missing = shown.filter(({ seq }) => seq > record.last_event_seq);
    const seq = (missing.at(-1)?.seq ?? record.last_event_seq) + 1;
    const { type, data, fields } = changeBy(record, end, at);
    // Write the events first, so that the record never refers to a missing event.
    for (const event of [...missing, { seq, type, at, data }]) {
      const eventId = `${_id}:${event.seq}`;
      await execution_events.replaceOne({ _id: eventId }, { execution_id: _id, ...event }, { upsert: true });
    }
    const unchanged = { _id, status: record.status, last_event_seq: record.last_event_seq };
    const written = await executions.updateOne(unchanged, {
      $set: { ...fields, end_time: at, last_event_seq: seq, ended_run: end.runId, changed_at: Date.now() },
    });
    if (written.modifiedCount === 0) continue;
    deps.metrics.executionMoved(type);
    await withdraw();
  }
}

function changeBy(record: ExecutionDocument, end: End, at: number) {
  if ('conclusion' in end) {
    return {
      type: 'completed' as const,
      data: { conclusion: end.conclusion.conclusion },
      fields: { status: 'completed' as const, conclusion: end.conclusion },
    };
  }
  const unfinished = record.steps.flatMap(({ status }, index) =>
    status === 'running' || status === 'waiting' ? index : [],
  );
  const step_id = record.steps[unfinished[0] ?? -1]?.step_id ?? null;
  const failure: ExecutionFailure = { ...end.failure, by: null, at, step_id };
  const steps = unfinished.flatMap((index): [string, unknown][] => [
    [`steps.${index}.status`, 'cancelled'],
    [`steps.${index}.ended_at`, at],
    [`steps.${index}.error`, failure.message],
  ]);
  // Written as a whole, because the id of an agent can contain a dot.
  const previews = Object.entries(record.previews).map(([id, preview]): [string, Preview] => [
    id,
    preview.status === 'waiting' ? { ...preview, status: 'expired' } : preview,
  ]);
  const waited = record.execution_context.waiting_for ? { 'execution_context.waiting_for': null } : {};
  return {
    type: 'failed' as const,
    data: { ...failure },
    fields: {
      status: 'failed' as const,
      'execution_context.failure': failure,
      ...waited,
      previews: Object.fromEntries(previews),
      ...Object.fromEntries(steps),
    },
  };
}

/** Undefined for an open run. @throws AppError `unavailable` */
async function endOf({ temporal }: ReconcileDeps, id: string): Promise<End | undefined> {
  try {
    return await temporal.call(async (client) => {
      const { status, runId } = await client.workflow.getHandle(executionWorkflowId(id)).describe();
      if (status.name === 'RUNNING' || status.name === 'PAUSED') return undefined;
      const ended = client.workflow.getHandle(executionWorkflowId(id), runId, { followRuns: false });
      return ended.result().then(
        (conclusion: unknown) => ({ runId, conclusion: conclusion as ExecutionConclusion }),
        (error: unknown) => ({ runId, failure: failureOf(error) }),
      );
    });
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
    return {
      runId: null,
      failure: { reason: 'lost', code: 'lost', message: 'the workflow service no longer has this run' },
    };
  }
}

function failureOf(error: unknown): Pick<ExecutionFailure, 'reason' | 'code' | 'message'> {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  if (cause instanceof TerminatedFailure) {
    const reason =
      cause.message && cause.message !== 'Workflow execution terminated' ? `: ${cause.message.slice(0, 500)}` : '';
    return {
      reason: 'terminated',
      code: 'terminated',
      message: `the run was terminated in the workflow service${reason}`,
    };
  }
  if (cause instanceof TimeoutFailure)
    return { reason: 'timed_out', code: 'timed_out', message: 'the run reached a time limit of the workflow service' };
  if (cause instanceof CancelledFailure)
    return { reason: 'cancelled', code: 'cancelled', message: 'cancelled on request' };
  const code = (cause instanceof ApplicationFailure && cause.type) || 'step_failed';
  const reason = endCodes.find((one) => one === code) ?? 'step_failed';
  return { reason, code, message: cause?.message ?? 'the execution failed' };
}

const open = ['ready', 'running', 'paused'] as const;
const maxOpenPerPass = 200;
const maxEndedPerPass = 1000;
/** A new run may not be visible on every member of a Temporal cluster yet. */
const graceSeconds = 300;
const lookBackMs = 24 * 3600 * 1000;

/**
 * One pass over runs whose end may not have been recorded: runs that Temporal lists as terminated or timed out, and the
 * next open records, so that successive passes cover all of them.
 */
export function createReconciler(deps: ReconcileDeps): () => Promise<void> {
  const { executions } = deps.mongo.collections;
  let after = '';
  return async () => {
    const ended = await executions
      .find({ _id: { $in: await endedByServer(deps) }, status: { $in: [...open] } }, { projection: { _id: 1 } })
      .toArray();
    const started = {
      status: { $in: ['running', 'paused'] as ExecutionDocument['status'][] },
      started_at: { $lt: epochSeconds() - graceSeconds },
    };
    const next = await executions
      .find({ _id: { $gt: after }, ...started }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(maxOpenPerPass)
      .toArray();
    after = next.length < maxOpenPerPass ? '' : (next.at(-1)?._id ?? '');
    // A failure must not prevent the reconciliation of the other records.
    const failures: unknown[] = [];
    for (const record of [...ended, ...next])
      await reconcile(deps, record).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
}

async function endedByServer({ temporal }: ReconcileDeps): Promise<string[]> {
  const since = new Date(Date.now() - lookBackMs).toISOString();
  const query = `WorkflowType = '${agentflowExecutionType}' AND ExecutionStatus IN ('Terminated', 'TimedOut') AND CloseTime > '${since}'`;
  // Not the SDK's list function, which would decrypt every memo, including those of other products in the namespace.
  const request = { namespace: temporal.client.options.namespace, query, pageSize: maxEndedPerPass };
  const { executions } = await temporal.call((client) => client.workflowService.listWorkflowExecutions(request));
  return executions.map(({ execution }) => (execution?.workflowId ?? '').slice(executionWorkflowId('').length));
}
