import { epochSeconds } from '../../time.js';
import type { QuestionAnswer } from '../act-messages.js';
import type { AskStep as FlowAsk } from '../flow/flow-steps.js';
import { contextOf, type StepContext } from './context.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Asks people. The step is held until somebody answers, and then runs again to take the answer. */
interface AskStep {
  kind: 'ask';
  ask: FlowAsk;
}

export interface AskPersonRequest {
  idempotency_key: string;
  execution_id: string;
  project_id: string;
  organization_id: string;
  agentflow_name: string;
  executed_by: string;
  ask: FlowAsk;
  context: StepContext;
  /** When the question expires, in epoch seconds. */
  until: number;
  /** Its time is over. */
  is_late: boolean;
  /** Absent until somebody has answered. */
  answer?: QuestionAnswer;
}

/** The answer; null if nobody answered in time. */
export type AskAnswer = { value: unknown } | null;

interface Activities {
  askPerson(request: AskPersonRequest): Promise<StepResult<AskAnswer>>;
}

export const ask: StepDefinition<AskStep, Activities> = {
  kind: 'ask',
  isAgentWork: false,
  activity: 'askPerson',
  profile: { startToCloseTimeout: '1m' },
  beginsSomething: true,
  id: ({ ask: { _id } }) => _id,
  name: ({ ask: { _id, title } }) => title || _id,
  run: ({ askPerson }, { ask: step }, run) => {
    const { execution_id, project_id, organization_id, agentflow_name, executed_by } = run.input;
    const held = run.path.held ?? undefined;
    const until = held?.expires_at ?? epochSeconds() + step.deadline_seconds;
    return askPerson({
      idempotency_key: idempotencyKey(run),
      execution_id,
      project_id,
      organization_id,
      agentflow_name,
      executed_by,
      ask: step,
      context: contextOf(run),
      until,
      is_late: held !== undefined && epochSeconds() >= until,
      ...(held?.answer && { answer: held.answer }),
    });
  },
  failsIfRefused: () => true,
  keep: (answer, { ask: { _id, next, on_timeout } }, { path, state, stepId }) => {
    path.outputs[_id] = answer?.value ?? null;
    Object.assign(path, { last: _id, next: answer ? next : on_timeout });
    const record = state.steps.findLast((one) => one.step_id === stepId);
    if (record) record.output = path.outputs[_id];
  },
};
