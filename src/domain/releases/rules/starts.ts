import { callId } from '../../agentflows/rules.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import type { ReleaseDocument } from '../record.js';

/** The actions of all agents, with the place of each. */
export function actionsOf({ agents }: Pick<AgentflowDocument, 'agents'>) {
  return agents.flatMap((agent) =>
    agent.skills.flatMap((skill) =>
      skill.actions.map((action) => ({
        action,
        skill,
        step_id: callId(agent, skill, action),
        where: `agents.${agent._id}.skills.${skill._id}.actions.${action._id}`,
      })),
    ),
  );
}

/** What starts other agentflows: the `flow` steps, and the actions with which agents call agentflows. */
export function startsOf({ agents, steps = [] }: Pick<AgentflowDocument, 'agents' | 'steps'>) {
  const ofSteps = steps.flatMap((step) => {
    if (step.type !== 'flow') return [];
    const { _id, agentflow_id, version } = step;
    return [{ where: `steps.${_id}`, step_id: _id, agentflow_id, version }];
  });
  const ofActions = actionsOf({ agents })
    .filter(({ action }) => action.category === 'agentflow')
    .map(({ action, step_id, where }) => ({ where, step_id, agentflow_id: action.endpoint, version: undefined }));
  return [...ofSteps, ...ofActions];
}

/** The releases that a release starts, by the id of the step. */
export function pinnedVersions({ flows, version }: Pick<ReleaseDocument, 'flows' | 'version'>): Map<string, number> {
  return new Map(flows.map((flow) => [flow.step_id, flow.version === 0 ? version : flow.version]));
}
