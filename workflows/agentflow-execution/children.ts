import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import { attributePairs } from '../search-attributes.js';
import { epochSeconds } from '../time.js';
import { startChildUpdate, type StartChildRequest } from './child-messages.js';
import {
  agentflowExecutionType,
  executionWorkflowId,
  type AgentflowExecutionInput,
  type ExecutionConclusion,
  type ExecutionState,
} from './messages.js';
import { addEvent, isOver } from './state.js';

type Run = (input: AgentflowExecutionInput) => Promise<ExecutionConclusion>;

/** Starts the executions that name this one as their parent. They continue after this one ends or is cancelled. */
export function handleChildren(state: ExecutionState, changed: () => void): void {
  const start = async (request: StartChildRequest): Promise<boolean> => {
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
    changed();
    return true;
  };
  setHandler<boolean, [StartChildRequest], typeof startChildUpdate>(startChildUpdate, start, {
    description: 'Start an execution that names this one as its parent',
    validator: () => {
      if (isOver(state))
        throw ApplicationFailure.nonRetryable(`the execution is ${state.status}`, 'conflict', { status: state.status });
    },
  });
}
