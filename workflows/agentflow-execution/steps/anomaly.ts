import { epochSeconds } from '../../time.js';
import type { AgentOutput, AgentPlan } from '../messages.js';
import { codeOf, stepMessageOf } from '../failure.js';
import { addEvent } from '../state.js';
import { goalOf } from './context.js';
import { hasLightModel } from './light-models.js';
import { idempotencyKey, type StepDefinition, type StepResult, type StepRun } from './definition.js';

/** The check of one finished output. */
interface AnomalyStep {
  kind: 'anomaly';
  agent: AgentPlan;
  output: AgentOutput;
  instructions: string;
  /** The position of the output in the execution, from 1. */
  number: number;
}

export interface DetectAnomalyRequest {
  idempotency_key: string;
  execution_id: string;
  project_id: string;
  organization_id: string;
  instructions: string;
  goal: string;
  agent: Pick<AgentPlan, '_id' | 'title' | 'llm'>;
  output: string;
}

export interface AnomalyCheck {
  /** Null when the output complies with the instructions. */
  finding: string | null;
  model: string;
  usage: { input_tokens: number; output_tokens: number };
}

interface Activities {
  detectAnomaly(request: DetectAnomalyRequest): Promise<StepResult<AnomalyCheck>>;
}

/** The run waits for the check, so a check that fails is not repeated for as long as other steps. */
export const maxAnomalyAttempts = 2;

export const anomaly: StepDefinition<AnomalyStep, Activities> = {
  kind: 'anomaly',
  isAgentWork: false,
  activity: 'detectAnomaly',
  profile: { startToCloseTimeout: '3m', scheduleToCloseTimeout: '5m', retry: { maximumAttempts: maxAnomalyAttempts } },
  isLight: ({ agent }, input) => hasLightModel(agent, input),
  id: ({ agent, number }) => `${agent._id}/anomaly-${number}`,
  name: ({ agent }) => `${agent.title}: anomaly check`,
  run: ({ detectAnomaly }, { agent, output, instructions }, run) => {
    const { execution_id, project_id, organization_id } = run.input;
    const { _id, title, llm } = agent;
    return detectAnomaly({
      idempotency_key: idempotencyKey(run),
      execution_id,
      project_id,
      organization_id,
      instructions,
      goal: goalOf(run),
      agent: { _id, title, llm },
      output: output.output,
    });
  },
  keep: keepCheck,
  // The run continues without the check, and its events say so.
  continueAfter: (error, { agent }, { state, path }) => {
    path.unchecked = null;
    const reason = stepMessageOf(error);
    addEvent(state, 'anomaly_not_checked', epochSeconds(), { agent_id: agent._id, code: codeOf(error), reason });
  },
};

function keepCheck(
  { finding, model, usage }: AnomalyCheck,
  { agent, number }: AnomalyStep,
  { state, path, stepId }: StepRun,
): void {
  path.unchecked = null;
  state.spent.push({ key: stepId, model, ...usage });
  if (finding === null) return;
  const found = { agent_id: agent._id, finding, at: epochSeconds() };
  state.anomalies.push(found);
  addEvent(state, 'anomaly_detected', found.at, { ...found });
  // Rules decide whether the run continues.
  path.unsettled_anomaly = { agent_id: agent._id, finding, number };
}
