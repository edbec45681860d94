import { CancellationScope, condition, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AgentflowExecutionActivities, ExecutionProjection } from './activities.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { isInnerStep } from './flow/flow-steps.js';
import { viewOf } from './view.js';

type Publishing = Pick<AgentflowExecutionActivities, 'publishExecution'>;
const summary = 'write the execution record';

const { publishExecution } = proxyActivities<Publishing>({
  startToCloseTimeout: '10s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
  summary,
});

/**
 * Runs within the workflow task. It adds one event to the history; an activity adds six, and another workflow task. A
 * replay resolves it before the events that arrived while it ran, because the history contains only its end. If a slow
 * worker or store makes a write longer than its task, this would change the order of commands, and the run could not
 * continue. Therefore no step runs during a write, and the flow waits for it before the next command (`alone`).
 */
const local = proxyLocalActivities<Publishing>({ startToCloseTimeout: '5s', retry: { maximumAttempts: 1 }, summary });

/**
 * `person`: a person acted, or has to act. `recorded`: a person acted, and the API writes the new status to the record.
 * `progress`: a step, an agent or the run has ended.
 */
export type Change = 'person' | 'recorded' | 'progress';

export interface ProjectionWriter {
  request(change: Change): void;
  /** Whether the flow has to wait before its next command. */
  isWritingAlone(): boolean;
  /** Resolves when everything requested has been written. */
  drain(): Promise<void>;
}

/** How often the record of a running execution is written, apart from the actions of people. */
const intervalMs = 1000;
/** A change this long after the timer started restarts it. */
const restartMs = 500;
/** How long a move that the API has recorded waits for another change. The API may have died before its write. */
const recordedMs = 10_000;

/**
 * Writes the state to the execution's record, one write at a time, so that an older state can never overwrite a newer
 * one. Writes after an action of a person and at the end, otherwise at most once a second (decision 0003).
 */
export function createProjectionWriter(input: AgentflowExecutionInput, state: ExecutionState): ProjectionWriter {
  let isWritingAlone = false;
  let isWanted = false;
  let isDue = false;
  /** All that is not written yet are moves that the API records. */
  let isRecorded = false;
  let isWriting = false;
  let changedAt = Date.now();
  let writtenAt = changedAt;
  let writing: Promise<void> | undefined;

  /** A regular activity repeats without limit, and its attempts add nothing to the history, however long MongoDB is down. */
  const publish = async (projection: ExecutionProjection) => {
    const isStepRunning =
      state.steps.some(({ ended_at, kind }) => ended_at === null && !isInnerStep(kind)) ||
      state.turn?.is_asking === true ||
      state.runs_light_steps === true ||
      state.is_giving_way === true;
    if (isStepRunning) return publishExecution(projection);
    isWritingAlone = true;
    try {
      await local.publishExecution(projection);
      isWritingAlone = false;
    } catch {
      isWritingAlone = false;
      await publishExecution(projection);
    }
  };

  /** Quick steps restart the timer before it fires, because firing costs a workflow task. */
  const untilDue = async () => {
    let startedAt = changedAt;
    let isPatient = isRecorded;
    const isOver = () => isDue || isPatient !== isRecorded || (!isPatient && changedAt >= startedAt + restartMs);
    const options = { summary: 'the next write of the record' };
    while (!isDue && (await condition(isOver, isPatient ? recordedMs : intervalMs, options)))
      [startedAt, isPatient] = [changedAt, isRecorded];
  };
  const write = async () => {
    while (isWanted) {
      let at = isDue ? changedAt : undefined;
      if (!isDue) await untilDue();
      // Not the end of the previous write, because a replay has another time there.
      at ??= Date.now();
      [isWanted, isDue, isRecorded, writtenAt] = [false, false, false, at];
      isWriting = true;
      await writeOnce(input, state, publish);
      isWriting = false;
    }
    writing = undefined;
  };
  return {
    request(change): void {
      // A write in progress has the state before the move, and may reach the record after the API.
      isRecorded = change === 'recorded' && (isRecorded || !isWanted) && !isWriting;
      isWanted = true;
      changedAt = Date.now();
      const isOfPerson = change === 'person' || change === 'recorded';
      isDue ||= isOfPerson ? !isRecorded : changedAt >= writtenAt + intervalMs;
      writing ??= CancellationScope.nonCancellable(write);
    },
    isWritingAlone: () => isWritingAlone,
    async drain(): Promise<void> {
      isDue = true;
      await writing;
    },
  };
}

async function writeOnce(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  publish: (projection: ExecutionProjection) => Promise<void>,
): Promise<void> {
  const { published } = state;
  const events = [...state.unpublished];
  // Steps on different paths end in any order.
  const changed = [...(published.open ?? []), ...positionsFrom(state.steps, published.steps)];
  const steps = changed.flatMap((index) => {
    const value = state.steps[index];
    return value ? [{ index, value }] : [];
  });
  const open = steps.filter(({ value }) => value.ended_at === null).map(({ index }) => index);
  const count = state.steps.length;
  const outputs = state.agents_output.length;
  const spent = [...state.spent];
  // Increases with each write, even if the clock of another Temporal server is behind.
  state.projected_at = Math.max(Date.now(), Math.round(state.projected_at * 1000) + 1) / 1000;
  const projection: ExecutionProjection = {
    execution_id: input.execution_id,
    organization_id: input.organization_id,
    project_id: input.project_id,
    agentflow_id: input.agentflow_id,
    projected_at: state.projected_at,
    status: state.status,
    started_at: state.started_at,
    end_time: state.end_time,
    conclusion: state.conclusion,
    failure: state.failure,
    ...viewOf(state),
    last_event_seq: state.last_event_seq,
    steps,
    agents_output: from(state.agents_output, published.outputs),
    spent,
    events,
    ...(input.slice && { part_of: input.slice.root }),
    ...(state.has_slices && { has_slices: true }),
  };
  await publish(projection);
  const lastSeq = events.at(-1)?.seq ?? 0;
  state.unpublished = state.unpublished.filter(({ seq }) => seq > lastSeq);
  state.spent = state.spent.slice(spent.length);
  state.published = { steps: count, open, outputs };
}

function positionsFrom(list: readonly unknown[], start: number): number[] {
  return list.slice(start).map((_one, offset) => start + offset);
}

function from<T>(list: readonly T[], start: number): { index: number; value: T }[] {
  return list.slice(start).map((value, offset) => ({ index: start + offset, value }));
}
