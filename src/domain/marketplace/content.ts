import { AgentflowContent, type Agentflow } from '../agentflows/record.js';
import type { FlowStep } from '../agentflows/record/steps.js';
import { pick } from '../../base/pick.js';

/** The copyable content of an agentflow: without owner, project, history and references to connectors. */
export function contentOf(agentflow: Agentflow): AgentflowContent {
  const fields = pick(
    agentflow,
    'name',
    'image',
    'description',
    'role',
    'initialAgent',
    'agentflow_type',
    'goal_structure',
    'conclusion',
    'failover_goal',
    'anomaly_detection',
    'concurrency',
    'input_schema',
    'output_schema',
  );
  const { agents, steps = [] } = agentflow;
  return AgentflowContent.parse({
    ...fields,
    isActive: true,
    agents: agents.map(agentContent),
    ...(steps.length > 0 && { steps: steps.map(stepContent) }),
  });
}

/** The people of an organization are not copied either: questions then go to everybody with a role that decides. */
function stepContent(step: FlowStep): FlowStep {
  if (step.type === 'ask' && step.to)
    return { ...step, to: step.to.roles.length > 0 ? { ...step.to, people: [] } : null };
  if (step.type !== 'action') return step;
  const { action } = step;
  return { ...step, connector_id: null, action: { ...action, endpoint: withoutCredentials(action.endpoint) } };
}

/** Triggers, connectors and knowledge are not copied. */
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

/** Removes `user:password@` and the values of query fields that have names of credentials. */
function withoutCredentials(endpoint: string): string {
  const [address = '', ...query] = endpoint.replace(/^(https?:\/\/)[^/?#@]*@/i, '$1').split('?');
  if (query.length === 0) return address;
  const fields = query
    .join('?')
    .split('&')
    .map((field) => {
      const [name = '', value = ''] = field.split('=');
      return secretName.test(name) && !value.startsWith('{{') ? `${name}=` : field;
    });
  return `${address}?${fields.join('&')}`;
}
