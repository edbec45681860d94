import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  ParentClosePolicy,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import { agentflowExecutionType, executionWorkflowId, type AgentflowExecutionInput, type ExecutionConclusion } from '../agentflow-execution/messages.js';
import { messageOf } from '../failure.js';
import { historyIsFull } from '../history.js';
import { attributePairs } from '../search-attributes.js';
import { epochSeconds } from '../time.js';
import type { CoworkerRunActivities, ExecutionOutcome, RowReference, RunPlan, RunReference } from './activities.js';
import type { CoworkerRunInput, CoworkerRunResult, RowsState } from './messages.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
const options = { startToCloseTimeout: '30s', retry } as const;
const { planRun } = proxyActivities<CoworkerRunActivities>({ ...options, summary: 'read the schedule' });
const { readRows } = proxyActivities<CoworkerRunActivities>({ ...options, summary: 'read the next rows' });
// What cannot be prepared is told soon; a store that is gone may take its time.
const { prepareRun } = proxyActivities<CoworkerRunActivities>({ ...options, summary: 'prepare the execution' });
const { recordExecution, recordRun } = proxyActivities<CoworkerRunActivities>({ ...options, summary: 'write the outcome back' });

/** Rows that are worked at once. */
const rowsAtOnce = 5;

type Execution = (input: AgentflowExecutionInput) => Promise<ExecutionConclusion>;

/**
 * One firing of a schedule: an execution as a child, or one for each row of its table. Fails when one of them failed, so
 * that a schedule which is to pause on failure does.
 */
export async function coworkerRun(input: CoworkerRunInput): Promise<CoworkerRunResult> {
  const state = input.resumed ?? firstState();
  const { run_id, scheduled_for, started_at } = state;
  const run: RunReference = { schedule_id: input.schedule_id, run_id, scheduled_for, started_at };
  try {
    const plan = await planOf(run, state);
    if (plan.kind === 'gone') return { outcome: 'gone', executions: 0 };
    if (plan.kind === 'once') await runOne(run, state, null);
    else if (await runRows(input, run, state, plan.table_id)) {
      return await continueAsNew<typeof coworkerRun>({ ...input, resumed: { ...state, table_id: plan.table_id } });
    }
  } catch (error) {
    if (!isEnd(error)) throw error;
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() => recordRun({ run, ended_at: epochSeconds(), status, error: messageOf(error) }));
    throw error;
  }
  const error = state.failed === 0 ? null : `${state.failed} of ${state.executions} executions failed: ${state.error ?? ''}`;
  await recordRun({ run, ended_at: epochSeconds(), status: error === null ? 'completed' : 'failed', error });
  if (error !== null) throw ApplicationFailure.nonRetryable(error, 'execution_failed');
  return { outcome: 'completed', executions: state.executions };
}

function firstState(): RowsState {
  const { workflowId, searchAttributes, startTime } = workflowInfo();
  const [planned] = (searchAttributes.TemporalScheduledStartTime ?? []) as Date[];
  return { run_id: workflowId, scheduled_for: (planned ?? startTime).getTime() / 1000, started_at: epochSeconds(), after: 0, executions: 0, failed: 0, error: null };
}

function planOf(run: RunReference, { table_id }: RowsState): RunPlan | Promise<RunPlan> {
  return table_id === undefined ? planRun(run) : { kind: 'rows', table_id };
}

/** True when the history is full before the rows have ended. */
async function runRows(input: CoworkerRunInput, run: RunReference, state: RowsState, table_id: string): Promise<boolean> {
  for (;;) {
    const rows = await readRows({ run, table_id, after: state.after, limit: rowsAtOnce });
    if (rows.length === 0) return false;
    // All of them are written back before the run ends, whatever became of one.
    const settled = await Promise.allSettled(rows.map((row) => runOne(run, state, row)));
    for (const result of settled) if (result.status === 'rejected') throw result.reason;
    state.after = rows.at(-1)?.row_id ?? state.after;
    setCurrentDetails(`${state.executions} rows done, ${state.failed} failed`);
    if (historyIsFull(input)) return true;
  }
}

async function runOne(run: RunReference, state: RowsState, row: RowReference | null): Promise<void> {
  const outcome = await outcomeOf(run, row);
  state.executions += 1;
  if (outcome.status !== 'completed') {
    state.failed += 1;
    state.error = outcome.error;
  }
  await CancellationScope.nonCancellable(() => recordExecution({ run, outcome }));
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the run was cancelled');
}

/** What cannot be prepared, as a goal whose variable a row lacks, is a failure of its own and stops no other row. */
async function outcomeOf(run: RunReference, row: RowReference | null): Promise<ExecutionOutcome> {
  const place = { execution_id: null as string | null, record_id: row?._id ?? null };
  try {
    const { input, attributes, ...start } = await prepareRun({ run, row, at: epochSeconds() });
    place.execution_id = input.execution_id;
    const { conclusion } = await executeChild<Execution>(agentflowExecutionType, {
      ...start,
      workflowId: executionWorkflowId(input.execution_id),
      // A history that was reset asks for a child that ran before.
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: attributePairs(attributes),
      args: [input],
    });
    return { ...place, status: 'completed', conclusion, error: null };
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure || error instanceof ActivityFailure || error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { ...place, status: isCancellation(error) ? 'cancelled' : 'failed', conclusion: null, error: messageOf(error) };
  }
}

/** Continue-as-new is told by an exception as well. */
function isEnd(error: unknown): boolean {
  return isCancellation(error) || error instanceof ActivityFailure || error instanceof ApplicationFailure;
}
