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
  cancelSignal,
  executionWorkflowId,
  type AgentflowExecutionInput,
  type ExecutionConclusion,
  type ExecutionState,
  type MoveRequest,
  type pauseSignal,
} from './messages.js';
import type { ChildRun, PathState } from './path-state.js';
import { addEvent, isOver } from './state.js';

/** The maximum number of ended runs that are remembered until their steps have read them. */
const maxRemembered = 200;

const withParent: MoveRequest = { by: 'service', reason: 'with the run that started it' };

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
  if (!input.cancelled) addEvent(state, 'child_started', epochSeconds(), { execution_id: input.execution_id });
  return true;
}

/** Tells a run that this one waits for. Ignores one that has ended meanwhile. */
export async function tellChild({ execution_id }: ChildRun, signal: typeof pauseSignal): Promise<void> {
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(executionWorkflowId(execution_id))
      .signal(signal, withParent)
      .catch(() => undefined),
  );
}

/** Cancels the run that the path has begun and no longer waits for. One that was only prepared starts as cancelled. */
export async function endChild(state: ExecutionState, path: PathState): Promise<void> {
  const { child } = path;
  path.child = null;
  if (!child || child.end) return;
  if (!child.request) return tellChild(child, cancelSignal);
  const request = child.request as StartChildRequest;
  await startRun(state, { ...request, input: { ...request.input, cancelled: withParent } });
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
