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
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import {
  agentflowExecutionType,
  executionWorkflowId,
  type AgentflowExecutionInput,
  type ExecutionConclusion,
} from '../agentflow-execution/messages.js';
import { messageOf } from '../failure.js';
import { historyIsFull } from '../history.js';
import { attributePairs } from '../search-attributes.js';
import { epochSeconds } from '../time.js';
import type { CoworkerRunActivities, ExecutionOutcome, RowReference, RunPlan, RunReference } from './activities.js';
import type { CoworkerRunInput, CoworkerRunResult, RowsState } from './messages.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
/** An activity that fails for a day is reported as failed. */
const options = { startToCloseTimeout: '30s', scheduleToCloseTimeout: '24h', retry } as const;
const { readRows } = proxyActivities<CoworkerRunActivities>({ ...options, summary: 'read the next rows' });
type Preparation = CoworkerRunActivities['prepareRun'];
// A refusal ends preparation at once; an unavailable store is retried.
const { prepareRun } = proxyActivities<CoworkerRunActivities>({ ...options, summary: 'prepare the execution' });
/** Local activities spare the server three tasks for each run. After a longer wait, a timer retries them. */
const local = proxyLocalActivities<CoworkerRunActivities>({ ...options, localRetryThreshold: '5s' });

/** Rows whose executions run at the same time. */
const maxConcurrentRows = 5;

type Execution = (input: AgentflowExecutionInput) => Promise<ExecutionConclusion>;

/**
 * One firing of a schedule: one child execution, or one for each row of its table. Fails if any of them failed, so that
 * schedules that pause on failure do so.
 */
export async function coworkerRun(input: CoworkerRunInput): Promise<CoworkerRunResult> {
  const state = input.resumed ?? firstState();
  const { run_id, scheduled_for, started_at } = state;
  const run: RunReference = {
    schedule_id: input.schedule_id,
    run_id,
    first_run: workflowInfo().firstExecutionRunId,
    scheduled_for,
    started_at,
    ...(input.triggered_by !== undefined && { triggered_by: input.triggered_by }),
  };
  try {
    const plan = await planOf(run, state);
    if (plan.kind === 'gone' || plan.kind === 'repeated') return { outcome: plan.kind, executions: 0 };
    if (plan.kind === 'once') {
      await runOne(run, state, null, local.prepareRun);
    } else if (await runRows(input, run, state, plan.table_id)) {
      return await continueAsNew<typeof coworkerRun>({ ...input, resumed: { ...state, table_id: plan.table_id } });
    }
  } catch (error) {
    if (!isEnd(error)) throw error;
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() =>
      local.recordRun({ run, ended_at: epochSeconds(), status, error: messageOf(error) }),
    );
    throw error;
  }
  const error =
    state.failed === 0 ? null : `${state.failed} of ${state.executions} executions failed: ${state.error ?? ''}`;
  await local.recordRun({ run, ended_at: epochSeconds(), status: error === null ? 'completed' : 'failed', error });
  if (error !== null) throw ApplicationFailure.nonRetryable(error, 'execution_failed');
  return { outcome: 'completed', executions: state.executions };
}

function firstState(): RowsState {
  const { workflowId, searchAttributes, startTime } = workflowInfo();
  const [planned] = (searchAttributes.TemporalScheduledStartTime ?? []) as Date[];
  return {
    run_id: workflowId,
    scheduled_for: (planned ?? startTime).getTime() / 1000,
    started_at: epochSeconds(),
    after: 0,
    executions: 0,
    failed: 0,
    error: null,
  };
}

function planOf(run: RunReference, { table_id }: RowsState): RunPlan | Promise<RunPlan> {
  return table_id === undefined ? local.planRun(run) : { kind: 'rows', table_id };
}

/** Returns true if the history is full before all rows are done. */
async function runRows(
  input: CoworkerRunInput,
  run: RunReference,
  state: RowsState,
  table_id: string,
): Promise<boolean> {
  for (;;) {
    const rows = await readRows({ run, table_id, after: state.after, limit: maxConcurrentRows });
    if (rows.length === 0) return false;
    // Every outcome is recorded before the run ends, even if one of the executions failed.
    const settled = await Promise.allSettled(rows.map((row) => runOne(run, state, row, prepareRun)));
    for (const result of settled) if (result.status === 'rejected') throw result.reason;
    state.after = rows.at(-1)?.row_id ?? state.after;
    setCurrentDetails(`${state.executions} rows done, ${state.failed} failed`);
    if (historyIsFull(input)) return true;
  }
}

async function runOne(
  run: RunReference,
  state: RowsState,
  row: RowReference | null,
  prepare: Preparation,
): Promise<void> {
  const outcome = await outcomeOf(run, row, prepare);
  state.executions += 1;
  if (outcome.status !== 'completed') {
    state.failed += 1;
    state.error = outcome.error;
  }
  await CancellationScope.nonCancellable(() => local.recordExecution({ run, outcome }));
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the run was cancelled');
}

/** An execution that cannot be prepared, for example because a row lacks a variable of the goal, fails without stopping other rows. */
async function outcomeOf(run: RunReference, row: RowReference | null, prepare: Preparation): Promise<ExecutionOutcome> {
  const outcome = { execution_id: null as string | null, record_id: row?._id ?? null };
  try {
    const { input, attributes, ...start } = await prepare({ run, row });
    outcome.execution_id = input.execution_id;
    const { conclusion } = await executeChild<Execution>(agentflowExecutionType, {
      ...start,
      workflowId: executionWorkflowId(input.execution_id),
      // After a reset of the history, the child may already have run.
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: attributePairs(attributes),
      args: [input],
    });
    return { ...outcome, status: 'completed', conclusion, error: null };
  } catch (error) {
    if (!(
      error instanceof ChildWorkflowFailure ||
      error instanceof ActivityFailure ||
      error instanceof WorkflowExecutionAlreadyStartedError
    ))
      throw error;
    return {
      ...outcome,
      status: isCancellation(error) ? 'cancelled' : 'failed',
      conclusion: null,
      error: messageOf(error),
    };
  }
}

/** Excludes continue-as-new, which is also an exception. */
function isEnd(error: unknown): boolean {
  return isCancellation(error) || error instanceof ActivityFailure || error instanceof ApplicationFailure;
}
