import type { FlowStep } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import { notFound } from '../../base/errors.js';
import { pick } from '../../base/pick.js';
import type { ExecutionDocument } from './record.js';
import { nodesFrom } from './step-trial.js';

/** What a run on a slice executes: the `map`, and the nodes of its items. */
export function flowOfMap({ flow, plan, agentflow }: ExecutionDocument, stepId: string) {
  const { steps = [] } = flow;
  const map = steps.find(({ _id }) => _id === stepId);
  if (map?.type !== 'map') throw notFound('the step');
  const kept = new Set([stepId, ...nodesFrom({ agents: plan, steps }, [map.first])]);
  const own = (list: readonly FlowStep[]) =>
    list.filter(({ _id }) => kept.has(_id)).map((step) => (step._id === stepId ? { ...step, next: null } : step));
  return {
    plan: plan.filter(({ _id }) => kept.has(_id)),
    agentflow: {
      ...agentflow,
      initialAgent: stepId,
      agents: agentflow.agents.filter(({ _id }) => kept.has(_id)),
      ...(agentflow.steps && { steps: own(agentflow.steps as FlowStep[]) }),
    },
    flow: { ...pick(flow, 'anomaly_detection', 'started_by', 'agentflow_version', 'parents'), steps: own(steps) },
  };
}
