import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { ChildEnd } from '../../../workflows/agentflow-execution/path-state.js';
import type { PreparedSlice, StartSliceRequest } from '../../../workflows/agentflow-execution/steps/start-slice.js';
import { notFound } from '../../base/errors.js';
import type { Deps } from '../deps.js';
import { startRequestOf } from './operations/moves.js';
import { sliceId, type SliceDocument } from './slices.js';
import { readFlow } from './start-flow.js';

/** Prepares the start of the run of a slice. Safe to repeat. */
export async function startSlice(deps: Deps, request: StartSliceRequest): Promise<PreparedSlice> {
  const { execution_id, place, from, concurrency, tokens_before } = request;
  const { executions } = deps.mongo.collections;
  const run = await executions.findOne({ _id: execution_id }, { projection: { created_at: 1 } });
  const record = run && ((await executions.findOne({ _id: sliceId(run, place, from) })) as SliceDocument | null);
  if (!record) throw notFound('the run of the slice');
  const end = await readSlice(deps, record._id);
  if (end) return { execution_id: record._id, end };
  const { input, ...options } = startRequestOf(deps, record);
  const { slice } = record.flow;
  const steps = input.steps?.map((step) =>
    step.type === 'map' && step._id === slice.step_id ? { ...step, concurrency } : step,
  );
  const own = {
    ...(steps && { steps }),
    slice: { ...slice, tokens_before },
    notifies: executionWorkflowId(execution_id),
  };
  return { execution_id: record._id, request: { ...options, input: { ...input, ...own } } };
}

/** How the run of a slice has ended; null while it goes on. */
export async function readSlice(deps: Deps, executionId: string): Promise<ChildEnd | null> {
  const end = await readFlow(deps, executionId);
  if (!end || 'output' in end) return end;
  const record = await deps.mongo.collections.executions.findOne(
    { _id: executionId },
    { projection: { 'execution_context.failure': 1 } },
  );
  const { reason, step_id } = (record?.execution_context.failure ?? {}) as { reason?: string; step_id?: string | null };
  return { ...end, error: { ...end.error, step_id: step_id ?? null, ends_run: reason !== 'step_failed' } };
}
