import { ApplicationFailure, isCancellation, proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import type { AgentflowExecutionActivities, StepContext } from './activities.js';
import { attemptsOf, messageOf } from './failure.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { beginStep, endAgent, endStep, nameOf, type Step } from './state.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 } as const;

/** One profile a kind of step. Heartbeats tell a killed worker from a slow server. */
const profiles = {
  documents: { startToCloseTimeout: '1m', heartbeatTimeout: '10s', retry },
  action: { startToCloseTimeout: '2m', heartbeatTimeout: '10s', retry },
  model: { startToCloseTimeout: '10m', heartbeatTimeout: '10s', retry },
} as const satisfies Record<Step['kind'], ActivityOptions>;

/** What a run keeps travels in the context of its steps and stands in its record, which MongoDB bounds to 16 MB. */
const keptAtMost = 2 * 1024 * 1024;

/** Runs one step as one activity and keeps its result in the state. Throws what the activity threw. */
export async function runStep(input: AgentflowExecutionInput, state: ExecutionState, step: Step): Promise<void> {
  const record = beginStep(state, step, now());
  try {
    const { attempts, value, keep } = await perform(input, state, step, record.step_id);
    makeRoom(state, value);
    endStep(state, record, { status: 'completed', attempts, at: now() });
    keep();
  } catch (error) {
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    endStep(state, record, { status, attempts: attemptsOf(error), at: now(), error: messageOf(error) });
    throw error;
  }
}

async function perform(input: AgentflowExecutionInput, state: ExecutionState, step: Step, stepId: string) {
  const activities = proxyActivities<AgentflowExecutionActivities>({ ...profiles[step.kind], summary: nameOf(step) });
  const idempotencyKey = `${input.execution_id}/${stepId}`;
  if (step.kind === 'documents') {
    const { value, attempts } = await activities.readDocuments({ files: input.files });
    return { attempts, value, keep: () => void (state.documents = value) };
  }
  const context = contextOf(input, state);
  if (step.kind === 'action') {
    const { action, skill } = step;
    const { value, attempts } = await activities.callAction({
      idempotency_key: idempotencyKey,
      project_id: input.project_id,
      connector_id: skill.connector_id ?? null,
      action,
      context,
    });
    const result = { action_id: action._id, skill_id: skill._id, name: action.name, output: value };
    return { attempts, value, keep: () => void state.current?.results.push(result) };
  }
  const { skills: _skills, next_agent: _next, ...agent } = step.agent;
  const { value, attempts } = await activities.takeModelTurn({
    idempotency_key: idempotencyKey,
    execution_id: input.execution_id,
    project_id: input.project_id,
    organization_id: input.organization_id,
    executed_by: input.executed_by,
    after_seq: state.last_event_seq,
    tools: [],
    conversation: [],
    agent,
    context,
  });
  const { results = [], started_at = now() } = state.current ?? {};
  const output = { agent_id: agent._id, title: agent.title, model: value.model, output: value.content };
  return {
    attempts,
    value,
    keep: () => endAgent(state, { ...output, actions: results, usage: value.usage, started_at, ended_at: now() }),
  };
}

function makeRoom(state: ExecutionState, value: unknown): void {
  state.kept += JSON.stringify([value]).length;
  if (state.kept <= keptAtMost) return;
  const message = `the documents, answers and outputs of this execution are larger than ${keptAtMost} characters`;
  throw ApplicationFailure.nonRetryable(message, 'validation_failed');
}

function contextOf(input: AgentflowExecutionInput, state: ExecutionState): StepContext {
  return {
    goal: input.goal,
    input_variables: input.input_variables,
    runtime_inputs: input.runtime_inputs,
    documents: state.documents ?? [],
    outputs: state.agents_output.map(({ agent_id, title, output }) => ({ agent_id, title, output })),
    actions: state.current?.results ?? [],
  };
}

function now(): number {
  return Date.now() / 1000;
}
