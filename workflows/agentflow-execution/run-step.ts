import { ActivityFailure, ApplicationFailure, isCancellation, proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import { messageOf } from '../failure.js';
import { epochSeconds } from '../time.js';
import type { ActionInput, AgentflowExecutionActivities, AnomalyCheck, StepContext, StepResult } from './activities.js';
import { attemptsAtMost, attemptsOf, codeOf } from './failure.js';
import { keptAtMost, type ActionPlan, type AgentflowExecutionInput, type AgentPlan, type ExecutionState } from './messages.js';
import { nameOf, type Step } from './next-step.js';
import { editsOf, requestPreview } from './previews.js';
import { addEvent, beginStep, endStep, keepTurn } from './state.js';
import { answerCall, toolsOf } from './tools.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: attemptsAtMost } as const;
const short = { startToCloseTimeout: '1m', heartbeatTimeout: '10s', retry } as const;
const action = { startToCloseTimeout: '2m', heartbeatTimeout: '10s', retry } as const;
const model = { startToCloseTimeout: '10m', heartbeatTimeout: '10s', retry } as const;

/** One profile a kind of step. Heartbeats tell a killed worker from a slow server. */
const profiles = { documents: short, preview: short, goal: short, action, tool: action, model, anomaly: model } satisfies Record<Step['kind'], ActivityOptions>;

/** Runs one step as one activity and keeps its result in the state. Throws what the activity threw, if the run ends by it. */
export async function runStep(input: AgentflowExecutionInput, state: ExecutionState, step: Step): Promise<void> {
  const record = beginStep(state, step, epochSeconds());
  try {
    const { attempts, value, keep } = await perform(input, state, step, record.step_id);
    makeRoom(state, value);
    endStep(state, record, { status: 'completed', attempts, at: epochSeconds() });
    keep();
  } catch (error) {
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    endStep(state, record, { status, attempts: attemptsOf(error), at: epochSeconds(), error: messageOf(error) });
    if (status === 'cancelled' || !(error instanceof ActivityFailure) || !goOnAfter(state, step, error)) throw error;
  }
}

/** A tool's failure is the model's to deal with, and a check that fails finds nothing. */
function goOnAfter(state: ExecutionState, step: Step, error: ActivityFailure): boolean {
  if (step.kind === 'anomaly') state.checked += 1;
  else if (step.kind === 'tool' && state.current) {
    answerCall(state.current, step.call.id, { error: { code: codeOf(error), message: messageOf(error) } });
  } else return false;
  return true;
}

interface Performed {
  attempts: number;
  value: unknown;
  keep: () => void;
}

type Activities = Pick<AgentflowExecutionActivities, Exclude<keyof AgentflowExecutionActivities, 'publishExecution' | 'cancelOwnRun'>>;

async function perform(input: AgentflowExecutionInput, state: ExecutionState, step: Step, stepId: string): Promise<Performed> {
  const activities = proxyActivities<Activities>({ ...profiles[step.kind], summary: nameOf(step) });
  const ids = { idempotency_key: `${input.execution_id}/${stepId}`, project_id: input.project_id };
  const owner = { ...ids, execution_id: input.execution_id, organization_id: input.organization_id };
  const context = contextOf(input, state);
  switch (step.kind) {
    case 'documents':
      return kept(await activities.readDocuments({ files: input.files }), (value) => (state.documents = value));
    case 'goal':
      return kept(await renderGoal(activities, state, step.template, context), (value) => {
        if (state.failover) state.failover.goal = value;
      });
    case 'preview': {
      const calls = step.calls.map((call) => ({
        call_id: call.callId,
        skill_id: call.skill._id,
        action: call.action,
        input: inputFor(state, step.agent, call.action, call.callId, call.arguments),
      }));
      return kept(await activities.composePreview({ calls, context }), (proposed) =>
        requestPreview(state, step.agent, { previewId: step.previewId, proposed }, epochSeconds()),
      );
    }
    case 'action': {
      const { agent, action, skill } = step;
      const request = { ...ids, connector_id: skill.connector_id ?? null, action, context, input: inputFor(state, agent, action, null) };
      return kept(await activities.callAction(request), (output) =>
        state.current?.results.push({ action_id: action._id, skill_id: skill._id, name: action.name, output }),
      );
    }
    case 'tool': {
      const { id, tool, arguments: values } = step.call;
      const { action, skill } = tool;
      const request = { ...ids, connector_id: skill.connector_id ?? null, action, context, input: inputFor(state, step.agent, action, id, values) };
      return kept(await activities.callAction(request), (output) => {
        state.current?.tool_results.push({ action_id: action._id, skill_id: skill._id, name: action.name, output });
        if (state.current) answerCall(state.current, id, output);
      });
    }
    case 'anomaly': {
      const { agent, output, instructions } = step;
      const { _id, title, llm } = agent;
      const request = { ...owner, instructions, goal: context.goal, agent: { _id, title, llm }, output: output.output };
      return kept(await activities.detectAnomaly(request), (check) => keepCheck(state, agent, stepId, check));
    }
    case 'model': {
      const { skills: _skills, next_agent: _next, action_inputs: _inputs, ...agent } = step.agent;
      const turn = await activities.takeModelTurn({
        ...owner,
        executed_by: input.executed_by,
        after_seq: state.last_event_seq,
        tools: toolsOf(step.agent).map(({ offer }) => offer),
        conversation: state.current?.conversation ?? [],
        agent,
        context,
      });
      // Turns that were recorded before there were tools name no calls.
      return kept(turn, (value) => keepTurn(state, step.agent, { ...value, tool_calls: value.tool_calls ?? [] }, epochSeconds()));
    }
  }
}

function kept<T>({ value, attempts }: StepResult<T>, keep: (value: T) => unknown): Performed {
  return { value, attempts, keep: () => void keep(value) };
}

async function renderGoal(activities: Activities, state: ExecutionState, template: string, context: StepContext): Promise<StepResult<string>> {
  if (!state.failover) throw new Error('there is no failure to go on after');
  return activities.renderGoal({ template, failure: state.failover.from, context });
}

/** Checks that were made before they were paid for told their finding alone. */
function keepCheck(state: ExecutionState, agent: AgentPlan, stepId: string, check: AnomalyCheck | AnomalyCheck['finding']): void {
  state.checked += 1;
  const isWhole = check !== null && typeof check !== 'string';
  if (isWhole) state.spent.push({ key: stepId, model: check.model, ...check.usage });
  const finding = isWhole ? check.finding : check;
  if (finding === null) return;
  const anomaly = { agent_id: agent._id, finding, at: epochSeconds() };
  state.anomalies.push(anomaly);
  addEvent(state, 'anomaly_detected', anomaly.at, { ...anomaly });
}

/** The author's inputs are for the actions before the first model turn, or for the tool calls after it. */
function inputFor(state: ExecutionState, agent: AgentPlan, { _id }: ActionPlan, callId: string | null, values?: Record<string, unknown>): ActionInput {
  const edits = editsOf(state, agent._id, _id, callId);
  const defaults = values ? agent.action_inputs?.post : agent.action_inputs?.pre;
  return { ...(edits && { edits }), ...(values && { arguments: values }), ...(defaults && { defaults }) };
}

function makeRoom(state: ExecutionState, value: unknown): void {
  state.kept += JSON.stringify([value]).length;
  if (state.kept <= keptAtMost) return;
  const message = `the documents, answers and outputs of this execution are larger than ${keptAtMost} characters`;
  throw ApplicationFailure.nonRetryable(message, 'validation_failed');
}

function contextOf(input: AgentflowExecutionInput, state: ExecutionState): StepContext {
  return {
    goal: state.failover?.goal ?? input.goal,
    input_variables: input.input_variables,
    runtime_inputs: input.runtime_inputs,
    documents: state.documents ?? [],
    outputs: state.agents_output.map(({ agent_id, title, output }) => ({ agent_id, title, output })),
    actions: state.current?.results ?? [],
  };
}
