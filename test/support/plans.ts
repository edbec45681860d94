import type { ModelTurn } from '../../workflows/agentflow-execution/model-turn.js';
import type {
  ActionPlan,
  AgentflowExecutionInput,
  AgentPlan,
  SkillPlan,
} from '../../workflows/agentflow-execution/messages.js';

/** Parts of an execution's plan for tests of its workflow. */
export function actionPlan(_id: string, next: string | null, change: Partial<ActionPlan> = {}): ActionPlan {
  return {
    _id,
    name: `Call ${_id}`,
    category: 'restful',
    method: 'POST',
    endpoint: 'http://localhost',
    is_terminal: next === null,
    next_action_id: next,
    input_schema: { fields: [] },
    output_schema: { fields: [] },
    ...change,
  };
}

export function skillPlan(_id: string, initial: string | null, ...actions: ActionPlan[]): SkillPlan {
  return { _id, name: _id, connector_id: null, initial_action_id: initial, actions };
}

export function agentPlan(_id: string, next: string | null, ...skills: SkillPlan[]): AgentPlan {
  return {
    _id,
    title: _id,
    role: '',
    role_description: '',
    llm: { model: '', temperature: 0, max_tokens: 1 },
    prompt: { template: '', variables: [] },
    context: [],
    has_knowledge_base: false,
    skills,
    next_agent: next,
  };
}

export function executionPlan(
  agents: AgentPlan[],
  change: Partial<AgentflowExecutionInput> = {},
): AgentflowExecutionInput {
  return {
    execution_id: 'e',
    project_id: 'p',
    organization_id: 'o',
    agentflow_id: 'f',
    agentflow_name: 'flow',
    executed_by: 'u',
    goal: 'g',
    input_variables: {},
    runtime_inputs: {},
    files: [],
    agents,
    first_agent_id: agents[0]?._id ?? '',
    max_history_events: 5000,
    step_patience_seconds: 60,
    started_by: 'person',
    ...change,
  };
}

/** A turn that calls tools by name with JSON arguments, or a turn that is the final answer. */
export function modelTurn(said: string | [name: string, args: string][], tokens = 10): ModelTurn {
  const calls = typeof said === 'string' ? [] : said;
  return {
    model: 'm',
    content: typeof said === 'string' ? said : '',
    tool_calls: calls.map(([name, args], at) => ({ id: `id_${at}`, name, arguments: args })),
    usage: { input_tokens: tokens, output_tokens: tokens },
  };
}
