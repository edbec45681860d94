import { AppError } from '../../base/errors.js';
import { AgentflowContent, type Agentflow } from '../agentflows/record.js';
import type { FlowStep } from '../agentflows/record/steps.js';
import { slotNames, startsOf } from '../releases/operations.js';
import type { ReleaseContent } from '../releases/record.js';
import { pick } from '../../base/pick.js';
import type { PublicationSlot } from './schemas.js';
import type { ChosenConnector } from './slots.js';

export interface PublishedContent {
  content: AgentflowContent;
  slots: PublicationSlot[];
}

/**
 * The copyable content of an agentflow: without owner, project, history and references to connectors, which slots replace.
 * @throws AppError `validation_failed` if it starts other agentflows, which a copy would not have
 */
export function contentOf({ agentflow, slots }: Pick<ReleaseContent, 'agentflow' | 'slots'>): PublishedContent {
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
  refuseOthers(agentflow);
  const { agents, steps = [] } = agentflow;
  const open = openSlots({ agentflow, slots });
  const tables = new Map(open.map(({ slot, table_id }) => [table_id, slot.name]));
  const content = AgentflowContent.parse({
    ...fields,
    isActive: true,
    agents: agents.map(agentContent),
    ...(steps.length > 0 && { steps: steps.map((step) => stepContent(step, tables)) }),
  });
  return { content, slots: open.map(({ slot }) => slot).filter(({ used_by }) => used_by.length > 0) };
}

/**
 * The slots of a publication. Their names do not tell the names of connectors. A connector that does not exist has no category, and
 * no slot.
 */
function openSlots({ agentflow: { agents, steps = [] }, slots }: Pick<ReleaseContent, 'agentflow' | 'slots'>) {
  const existing = slots.filter(({ category }) => category !== '');
  const names = slotNames(existing.map(({ category, table_id }) => (table_id === undefined ? category : 'table')));
  return existing.map(({ category, connector_id, table_id }, at) => {
    const used_by = [
      ...agents.flatMap(({ _id, skills }) =>
        skills.filter((skill) => skill.connector_id === connector_id).map((skill) => skillPath(_id, skill._id)),
      ),
      ...steps
        .filter((step) =>
          step.type === 'action'
            ? step.connector_id === connector_id
            : table_id !== undefined && tableOf(step) === table_id,
        )
        .map(({ _id }) => stepPath(_id)),
    ];
    return { table_id, slot: { name: names[at] ?? '', category, is_table: table_id !== undefined, used_by } };
  });
}

const skillPath = (agent: string, skill: string) => `agents/${agent}/skills/${skill}`;
const stepPath = (step: string) => `steps/${step}`;

function tableOf(step: FlowStep): string | undefined {
  return step.type === 'map' && typeof step.items !== 'string' ? step.items.table_id : undefined;
}

function refuseOthers(agentflow: Pick<Agentflow, '_id' | 'agents' | 'steps'>): void {
  const others = startsOf(agentflow).filter(({ agentflow_id }) => agentflow_id !== agentflow._id);
  if (others.length > 0)
    throw new AppError(
      'validation_failed',
      `${others.map(({ where }) => where).join(', ')}: starts another agentflow, and a publication contains only one`,
    );
}

/** What a person chose for a copy, and what it is a copy of. */
export interface CopyOptions {
  connectors: ReadonlyMap<string, ChosenConnector>;
  /** The ids of the source and of the copy: an agentflow that starts itself starts the copy. */
  own: { from: string; to: string };
}

/** The content of a copy, with the connectors that were chosen for it. */
export function contentOfCopy(content: AgentflowContent, { connectors, own }: CopyOptions): AgentflowContent {
  const agents = content.agents?.map((agent) => ({
    ...agent,
    skills: agent.skills?.map((skill) => {
      const chosen = connectors.get(skillPath(agent._id ?? '', skill._id ?? ''));
      const actions = skill.actions.map((action) =>
        action.category === 'agentflow' && action.endpoint === own.from ? { ...action, endpoint: own.to } : action,
      );
      return { ...skill, actions, ...(chosen && { connector_id: chosen.connector_id, connector_name: chosen.name }) };
    }),
  }));
  const steps = content.steps?.map((step) => stepOfCopy(step, connectors.get(stepPath(step._id)), own));
  return { ...content, ...(agents && { agents }), ...(steps && { steps }) };
}

function stepOfCopy(step: FlowStep, chosen: ChosenConnector | undefined, own: CopyOptions['own']): FlowStep {
  if (step.type === 'flow')
    return { ...step, agentflow_id: step.agentflow_id === own.from ? own.to : step.agentflow_id };
  if (!chosen) return step;
  if (step.type === 'action') return { ...step, connector_id: chosen.connector_id };
  return step.type === 'map' && typeof step.items !== 'string' && chosen.table_id !== undefined
    ? { ...step, items: { ...step.items, table_id: chosen.table_id } }
    : step;
}

/**
 * The people of an organization are not copied either: questions then go to everybody with a role that decides. A table has the
 * name of its slot instead of its id.
 */
function stepContent(step: FlowStep, tables: ReadonlyMap<string | undefined, string>): FlowStep {
  if (step.type === 'ask' && step.to)
    return { ...step, to: step.to.roles.length > 0 ? { ...step.to, people: [] } : null };
  if (step.type === 'map' && typeof step.items !== 'string')
    return { ...step, items: { ...step.items, table_id: tables.get(step.items.table_id) ?? 'table' } };
  if (step.type === 'flow') {
    const { version: _ofTheSource, ...rest } = step;
    return rest;
  }
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
