import type { BranchStep, FlowStep as StepPlan } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import type { AgentPlan } from '../../../workflows/agentflow-execution/messages.js';
import { pick } from '../../base/pick.js';
import type { ActionStep, FlowStep } from '../agentflows/record/steps.js';

/** The steps of a flow as its run needs them: the calls of actions are in `actionAgents`. */
export function toStepPlans(steps: readonly FlowStep[]): StepPlan[] {
  return steps.map((step) => (step.type === 'action' ? pick(step, '_id', 'type', 'title', 'next', 'inputs') : step));
}

/** An agent for each `branch` whose case a model chooses. Its output is the name of the case. */
export function decidingAgents(steps: readonly FlowStep[]): AgentPlan[] {
  return steps.flatMap((step) => (step.type === 'branch' && step.decide ? [toDecider(step, step.decide)] : []));
}

function toDecider(
  { _id, title, cases }: BranchStep,
  { instructions, llm }: NonNullable<BranchStep['decide']>,
): AgentPlan {
  const listed = cases.map(({ name, description = '' }) => `- ${name}${description === '' ? '' : `: ${description}`}`);
  const names = cases.map(({ name }) => name);
  return {
    ...blankAgent(_id, title || _id),
    role_description: ['You choose exactly one of these cases by its name:', ...listed].join('\n'),
    llm: llm ?? { model: '', temperature: null, max_tokens: null },
    prompt: { template: instructions, variables: [] },
    output_schema: {
      type: 'object',
      properties: { case: { type: 'string', enum: names } },
      required: ['case'],
      additionalProperties: false,
    },
    cases: Object.fromEntries(cases.map(({ name, next }) => [name, next])),
  };
}

function blankAgent(_id: string, title: string): AgentPlan {
  return {
    _id,
    title,
    role: '',
    role_description: '',
    llm: { model: '', temperature: null, max_tokens: null },
    prompt: { template: '', variables: [] },
    context: [],
    has_knowledge_base: false,
    skills: [],
    next_agent: null,
  };
}

/** An agent without a model for each `action` step, so that its call is an act like those of agents. */
export function actionAgents(steps: readonly FlowStep[]): AgentPlan[] {
  return steps.flatMap((step) => (step.type === 'action' ? [toAgent(step)] : []));
}

function toAgent({ _id, title, next, connector_id, action, inputs }: ActionStep): AgentPlan {
  return {
    ...blankAgent(_id, title || action.name),
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
