import type { ExecutionFailure } from '../messages.js';
import { contextOf, type StepContext } from './context.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

interface GoalStep {
  kind: 'goal';
  template: string;
  /** The failure that led to the failover. */
  failure: ExecutionFailure;
}

export interface RenderGoalRequest {
  idempotency_key: string;
  template: string;
  failure: ExecutionFailure;
  context: StepContext;
}

interface Activities {
  renderGoal(request: RenderGoalRequest): Promise<StepResult<string>>;
}

export const goal: StepDefinition<GoalStep, Activities> = {
  kind: 'goal',
  isAgentWork: false,
  activity: 'renderGoal',
  profile: { startToCloseTimeout: '1m' },
  isLight: () => true,
  id: () => 'goal',
  name: () => 'render the failover goal',
  run: ({ renderGoal }, { template, failure }, run) =>
    renderGoal({ idempotency_key: idempotencyKey(run), template, failure, context: contextOf(run) }),
  keep: (rendered, _step, { state }) => {
    if (state.failover) state.failover.goal = rendered;
  },
};
