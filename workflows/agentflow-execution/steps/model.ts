import { epochSeconds } from '../../time.js';
import type { AgentPlan } from '../messages.js';
import type { ModelTurn, TurnMessage } from '../model-turn.js';
import { keepTurn } from '../state.js';
import { toolsOf, type ToolOffer } from '../tools.js';
import { contextOf, type StepContext } from './context.js';
import { hasLightModel } from './light-models.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

interface ModelStep {
  kind: 'model';
  agent: AgentPlan;
  turn: number;
}

export interface ModelTurnRequest {
  idempotency_key: string;
  execution_id: string;
  project_id: string;
  organization_id: string;
  /** The person or key whose rights the execution has. */
  executed_by: string;
  /** The turn's streamed events come after this event of the execution. */
  after_seq: number;
  tools: ToolOffer[];
  conversation: TurnMessage[];
  /** The JSON Schema of the output. */
  output_schema?: Record<string, unknown>;
  agent: Pick<
    AgentPlan,
    '_id' | 'title' | 'role' | 'role_description' | 'llm' | 'prompt' | 'context' | 'has_knowledge_base'
  >;
  context: StepContext;
}

interface Activities {
  takeModelTurn(request: ModelTurnRequest): Promise<StepResult<ModelTurn>>;
}

export const model: StepDefinition<ModelStep, Activities> = {
  kind: 'model',
  isAgentWork: true,
  activity: 'takeModelTurn',
  profile: { startToCloseTimeout: '10m' },
  isLight: ({ agent }, input) => hasLightModel(agent, input) && !agent.has_knowledge_base,
  id: ({ agent, turn }) => `${agent._id}/${turn === 1 ? 'model' : `model-${turn}`}`,
  name: ({ agent }) => `${agent.title}: model turn`,
  run: ({ takeModelTurn }, step, run) => {
    const { execution_id, project_id, organization_id, executed_by } = run.input;
    const { skills: _skills, next_agent: _next, action_inputs: _inputs, output_schema, ...agent } = step.agent;
    return takeModelTurn({
      idempotency_key: idempotencyKey(run),
      execution_id,
      project_id,
      organization_id,
      executed_by,
      after_seq: run.state.last_event_seq,
      tools: toolsOf(step.agent).map(({ offer }) => offer),
      conversation: run.path.current?.conversation ?? [],
      ...(output_schema && { output_schema }),
      agent,
      context: contextOf(run),
    });
  },
  // Turns that were recorded before tools existed have no `tool_calls`.
  keep: (turn, { agent }, { state, path }) =>
    keepTurn(state, path, agent, { ...turn, tool_calls: turn.tool_calls ?? [] }, epochSeconds()),
  spent: ({ model, usage }) => ({ model, ...usage }),
};
