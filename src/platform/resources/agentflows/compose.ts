import type { Principal } from '../../../auth/principal.js';
import { newId } from '../../../ids.js';
import type {
  Action,
  Agent,
  AgentflowDocument,
  AgentflowPatch,
  AgentPatch,
  NewAction,
  NewAgent,
  NewAgentflow,
  NewSchemaField,
  NewSkill,
  SchemaField,
  Skill,
} from './schemas.js';

/** Who makes it: the record's project and organization are the credential's, whatever the request says. */
export type Maker = Pick<Principal, 'projectId' | 'organizationId' | 'userId'>;

/** A whole agentflow from a request: ids generated and defaults filled in. `at` is in epoch seconds. */
export function newAgentflow(request: NewAgentflow, maker: Maker, id: string, at: number): AgentflowDocument {
  const blank: AgentflowDocument = {
    _id: id,
    name: '',
    image: '',
    description: '',
    role: '',
    projectID: maker.projectId,
    organization_id: maker.organizationId,
    initialAgent: '',
    isActive: true,
    is_deleted: false,
    is_cron_scheduled: false,
    created_at: at,
    updated_at: at,
    last_used: at,
    anomaly_detection: { is_enabled: false, instructions: '' },
    marketplace_id: '',
    parent_agentflow_id: '',
    agentflow_type: 'master',
    goal_structure: null,
    conclusion: null,
    failover_goal: null,
    agents: [],
    revision: 1,
  };
  return changedAgentflow(blank, request, maker);
}

/** Fields that the change leaves out are kept; `agents` are replaced as a whole. */
export function changedAgentflow(base: AgentflowDocument, change: AgentflowPatch, maker: Maker): AgentflowDocument {
  const { projectID: _agreesWithTheScope, agents, anomaly_detection, initialAgent, ...fields } = change;
  const changed: AgentflowDocument = {
    ...base,
    ...fields,
    anomaly_detection: { ...base.anomaly_detection, ...anomaly_detection },
    agents: agents?.map((agent) => newAgent(agent, maker)) ?? base.agents,
  };
  return initialAgent === undefined ? withInitialAgent(changed) : { ...changed, initialAgent };
}

export function withAgent(base: AgentflowDocument, agent: Agent): AgentflowDocument {
  return withInitialAgent({ ...base, agents: [...base.agents, agent] });
}

function withInitialAgent(agentflow: AgentflowDocument): AgentflowDocument {
  const first = agentflow.agents[0]?._id ?? '';
  return { ...agentflow, initialAgent: agentflow.initialAgent === '' ? first : agentflow.initialAgent };
}

export function newAgent(request: NewAgent, maker: Maker, id: string = newId()): Agent {
  const { _id = id, ...change } = request;
  const blank: Agent = {
    _id,
    title: '',
    role: '',
    role_description: '',
    llm: { model: '', temperature: 0.2, max_tokens: 1024 },
    context: [],
    has_knowledge_base: false,
    prompt: { template: '', variables: [], display_template: '' },
    triggers: [],
    is_preview_mode_enabled: false,
    pre_and_post_execution_input: null,
    skills: [],
    agent_type: 'skilled_agent',
    next_agent: null,
  };
  return changedAgent(blank, change, maker);
}

/** Fields that the change leaves out are kept, within `llm` and `prompt` too; `skills` are replaced as a whole. */
export function changedAgent(base: Agent, change: AgentPatch, maker: Maker): Agent {
  const { llm, prompt, skills, ...fields } = change;
  return {
    ...base,
    ...fields,
    llm: { ...base.llm, ...llm },
    prompt: { ...base.prompt, ...prompt },
    skills: skills?.map((skill) => newSkill(skill, maker)) ?? base.skills,
  };
}

export function newSkill(request: NewSkill, maker: Maker): Skill {
  const actions = request.actions.map(newAction);
  const { _id = newId(), initial_action_id = actions[0]?._id ?? null, ...fields } = request;
  return { _id, ...fields, projectID: maker.projectId, user_id: maker.userId, is_deleted: false, actions, initial_action_id };
}

export function newAction(request: NewAction, place: number): Action {
  const { _id = newId(), sort = place, is_terminal = request.next_action_id === null, ...fields } = request;
  return {
    _id,
    ...fields,
    sort,
    is_terminal,
    input_schema: { fields: request.input_schema.fields.map(newField) },
    output_schema: { fields: request.output_schema.fields.map(newField) },
  };
}

function newField(request: NewSchemaField): SchemaField {
  return { ...request, label: request.label === '' ? request.field_id : request.label };
}
