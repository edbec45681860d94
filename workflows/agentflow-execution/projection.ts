import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { AgentflowExecutionActivities } from './activities.js';
import type { ExecutionState } from './messages.js';
import { viewOf } from './view.js';

const { publishExecution } = proxyActivities<Pick<AgentflowExecutionActivities, 'publishExecution'>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
  summary: 'write the execution record',
});

export interface ProjectionWriter {
  request(): void;
  /** Until the record holds everything that was requested. */
  drain(): Promise<void>;
}

/**
 * Writes the state to the execution's record, one write at a time, so that an older state can never overwrite a
 * newer one; requests that come during a write are answered by one more. Retried for as long as it takes.
 */
export function createProjectionWriter(executionId: string, state: ExecutionState): ProjectionWriter {
  let wanted = false;
  let writing: Promise<void> | undefined;

  const write = async () => {
    while (wanted) {
      wanted = false;
      await writeOnce(executionId, state);
    }
    writing = undefined;
  };
  return {
    request(): void {
      wanted = true;
      writing ??= CancellationScope.nonCancellable(write);
    },
    async drain(): Promise<void> {
      await writing;
    },
  };
}

async function writeOnce(executionId: string, state: ExecutionState): Promise<void> {
  const { published } = state;
  const events = [...state.unpublished];
  const settled = state.steps.filter((step) => step.status !== 'running').length;
  const outputs = state.agents_output.length;
  const spent = [...state.spent];
  await publishExecution({
    execution_id: executionId,
    status: state.status,
    started_at: state.started_at,
    end_time: state.end_time,
    conclusion: state.conclusion,
    failure: state.failure,
    ...viewOf(state),
    last_event_seq: state.last_event_seq,
    steps: from(state.steps, published.steps),
    agents_output: from(state.agents_output, published.outputs),
    spent,
    events,
  });
  const lastSeq = events.at(-1)?.seq ?? 0;
  state.unpublished = state.unpublished.filter(({ seq }) => seq > lastSeq);
  state.spent = state.spent.slice(spent.length);
  state.published = { steps: settled, outputs };
}

function from<T>(list: readonly T[], start: number): { index: number; value: T }[] {
  return list.slice(start).map((value, offset) => ({ index: start + offset, value }));
}
