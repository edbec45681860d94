import type { z } from 'zod';
import { newAgentflowExample } from '../agentflows/examples.js';
import { NewAgentflow, type Agentflow } from '../agentflows/schemas.js';

/** An agentflow as somebody else may make it anew: without owner, place, history, and what leads to a connector. */
export const AgentflowContent = NewAgentflow;
export type AgentflowContent = z.infer<typeof AgentflowContent>;

export const exampleContent = newAgentflowExample;

export function contentOf(agentflow: Agentflow): AgentflowContent {
  const { name, image, description, role, initialAgent, agentflow_type, goal_structure, conclusion, failover_goal, anomaly_detection, agents } = agentflow;
  const fields = { name, image, description, role, initialAgent, agentflow_type, goal_structure, conclusion, failover_goal, anomaly_detection };
  return AgentflowContent.parse({ ...fields, isActive: true, agents: agents.map(agentContent) });
}

/** Triggers, connectors and knowledge are the publisher's own. */
function agentContent(agent: Agentflow['agents'][number]) {
  const skills = agent.skills.map(({ projectID: _project, user_id: _user, is_deleted: _deleted, ...skill }) => ({
    ...skill,
    connector_id: null,
    connector_name: '',
    actions: skill.actions.map((action) => ({ ...action, endpoint: withoutCredentials(action.endpoint) })),
  }));
  return { ...agent, triggers: [], context: [], has_knowledge_base: false, pre_and_post_execution_input: null, skills };
}

const secretName = /^(.*[_-])?(key|token|secret|password|passwd|pwd|sig|signature|auth|code)$/i;

/** An address without `user:password@`, and without the values of query fields that are named as credentials are. */
function withoutCredentials(endpoint: string): string {
  const [address = '', ...query] = endpoint.replace(/^(https?:\/\/)[^/?#@]*@/i, '$1').split('?');
  if (query.length === 0) return address;
  const fields = query.join('?').split('&').map((field) => {
    const [name = '', value = ''] = field.split('=');
    return secretName.test(name) && !value.startsWith('{{') ? `${name}=` : field;
  });
  return `${address}?${fields.join('&')}`;
}
