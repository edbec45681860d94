import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import { attributePairs } from '../search-attributes.js';
import { epochSeconds } from '../time.js';
import { childEndedSignal, startChildUpdate, type StartChildRequest } from './child-messages.js';
import {
  agentflowExecutionType,
  executionWorkflowId,
  type AgentflowExecutionInput,
  type ExecutionConclusion,
  type ExecutionState,
} from './messages.js';
import { addEvent, isOver } from './state.js';

/** The maximum number of ended runs that are remembered until their steps have read them. */
const maxRemembered = 200;

type Run = (input: AgentflowExecutionInput) => Promise<ExecutionConclusion>;

/** Starts an execution as a child, which continues when this run ends. @returns false if it was already started */
export async function startRun(state: ExecutionState, request: StartChildRequest): Promise<boolean> {
  const { input, attributes, ...options } = request;
  try {
    await CancellationScope.nonCancellable(() =>
      startChild<Run>(agentflowExecutionType, {
        ...options,
        workflowId: executionWorkflowId(input.execution_id),
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        parentClosePolicy: ParentClosePolicy.ABANDON,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        typedSearchAttributes: attributePairs(attributes),
        args: [input],
      }),
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw ApplicationFailure.nonRetryable('the child could not be started', 'unavailable');
  }
  addEvent(state, 'child_started', epochSeconds(), { execution_id: input.execution_id });
  return true;
}

/** Tells the run that waits for this one that it has ended. Ignores a run that has ended itself. */
export async function notifyParent({ notifies, execution_id }: AgentflowExecutionInput): Promise<void> {
  if (notifies === undefined) return;
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(notifies)
      .signal(childEndedSignal, execution_id)
      .catch(() => undefined),
  );
}

/** Notes that the run of a `flow` step has ended. The step reads the end itself. */
export function handleEndedChildren(state: ExecutionState): void {
  const remember = (executionId: unknown) => {
    if (typeof executionId !== 'string') return;
    state.ended_children = [...(state.ended_children ?? []), executionId].slice(-maxRemembered);
  };
  setHandler(childEndedSignal, remember, { description: 'A run that this one waits for has ended' });
}

/** Starts the executions that name this one as their parent. They continue after this one ends or is cancelled. */
export function handleChildren(state: ExecutionState, changed: () => void): void {
  const start = async (request: StartChildRequest): Promise<boolean> => {
    const isStarted = await startRun(state, request);
    if (isStarted) changed();
    return isStarted;
  };
  setHandler<boolean, [StartChildRequest], typeof startChildUpdate>(startChildUpdate, start, {
    description: 'Start an execution that names this one as its parent',
    validator: () => {
      if (isOver(state))
        throw ApplicationFailure.nonRetryable(`the execution is ${state.status}`, 'conflict', { status: state.status });
    },
  });
}
