import type { ActRun, AwaitedApproval } from '../act-messages.js';
import type { AgentPlan } from '../messages.js';
import { approvalOf } from './action.js';
import { actRunOf } from './act.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Asks the rules whether the run may continue after an anomaly was found in the agent's output. */
interface ContinueStep {
  kind: 'continue';
  agent: AgentPlan;
  finding: string;
  /** The position of the output in the execution, from 1. */
  number: number;
}

export interface ContinueRequest {
  idempotency_key: string;
  project_id: string;
  run: ActRun;
  finding: string;
  /** The approval that the run waited for. */
  approval?: Pick<AwaitedApproval, 'approval_id' | 'after_unknown'>;
}

/** Why the run may not continue; null if it may. */
type ContinueAnswer = { code: string; message: string } | null;

interface Activities {
  continueAfterAnomaly(request: ContinueRequest): Promise<StepResult<ContinueAnswer>>;
}

export const continueStep: StepDefinition<ContinueStep, Activities> = {
  kind: 'continue',
  isAgentWork: false,
  activity: 'continueAfterAnomaly',
  profile: { startToCloseTimeout: '1m' },
  beginsSomething: true,
  id: ({ agent, number }) => `${agent._id}/anomaly-${number}/continue`,
  name: ({ agent }) => `${agent.title}: continue after an anomaly`,
  run: ({ continueAfterAnomaly }, { agent, finding }, run) =>
    continueAfterAnomaly({
      idempotency_key: idempotencyKey(run),
      project_id: run.input.project_id,
      run: actRunOf(run, agent),
      finding,
      ...approvalOf(run),
    }),
  keep: (refused, _step, { path }) => {
    const { unsettled_anomaly: anomaly } = path;
    path.unsettled_anomaly = refused && anomaly ? { ...anomaly, refused } : null;
  },
};
