import type { FlowStep as StepPlan } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import type { AgentPlan } from '../../../workflows/agentflow-execution/messages.js';
import { pick } from '../../base/pick.js';
import type { ActionStep, FlowStep } from '../agentflows/record/steps.js';

/** The steps of a flow as its run needs them: the calls of actions are in `actionAgents`. */
export function toStepPlans(steps: readonly FlowStep[]): StepPlan[] {
  return steps.map((step) => (step.type === 'action' ? pick(step, '_id', 'type', 'title', 'next', 'inputs') : step));
}

/** An agent without a model for each `action` step, so that its call is an act like those of agents. */
export function actionAgents(steps: readonly FlowStep[]): AgentPlan[] {
  return steps.flatMap((step) => (step.type === 'action' ? [toAgent(step)] : []));
}

function toAgent({ _id, title, next, connector_id, action, inputs }: ActionStep): AgentPlan {
  return {
    _id,
    title: title || action.name,
    role: '',
    role_description: '',
    llm: { model: '', temperature: null, max_tokens: null },
    prompt: { template: '', variables: [] },
    context: [],
    has_knowledge_base: false,
    skills: [
      {
        _id,
        name: title || action.name,
        connector_id,
        initial_action_id: _id,
        actions: [{ ...action, _id, is_terminal: true, next_action_id: null }],
      },
    ],
    next_agent: next,
    step: { inputs },
  };
}
