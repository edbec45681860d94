import { exampleId } from '../../../base/ids.js';
/** Examples for the OpenAPI document. A test validates them against their schemas. */
export const exampleField = {
  field_id: 'claim_number',
  label: 'Claim number',
  type: 'string' as const,
  required: true,
  description: 'As printed on the letter',
};

export const exampleAction = {
  _id: 'look_up',
  name: 'Look up the claim',
  description: 'Reads the claim from the register',
  category: 'restful' as const,
  method: 'GET' as const,
  endpoint: 'https://claims.example.com/claims/{{ inputs.claim_number }}',
  sort: 0,
  previous_action_id: null,
  next_action_id: null,
  is_terminal: true,
  input_schema: { fields: [exampleField] },
  output_schema: { fields: [] },
};

export const exampleSkill = {
  _id: 'register',
  name: 'Claims register',
  description: 'Reads the register',
  logo: '',
  projectID: exampleId,
  user_id: 'user_1',
  connector_id: null,
  connector_name: '',
  is_deleted: false,
  actions: [exampleAction],
  initial_action_id: 'look_up',
};

export const exampleAgent = {
  _id: 'reader',
  title: 'Reader',
  role: 'claims reader',
  role_description: 'Reads the claim and names what is missing',
  llm: { model: '', temperature: null, max_tokens: null },
  context: [],
  has_knowledge_base: false,
  prompt: { template: 'Read this for {{ goal }}', variables: ['goal'], display_template: 'Read the claim' },
  triggers: [],
  is_preview_mode_enabled: false,
  pre_and_post_execution_input: null,
  skills: [exampleSkill],
  agent_type: 'skilled_agent',
  next_agent: null,
};

export const exampleAgentflow = {
  _id: '0199a6f0-8b1e-7d02-9c3a-52f1f0b6c2d4',
  name: 'Claim summary',
  image: '',
  description: 'Reads a claim and sums it up',
  role: 'claims assistant',
  projectID: exampleId,
  organization_id: 'org_1',
  initialAgent: 'reader',
  isActive: true,
  is_deleted: false,
  is_cron_scheduled: false,
  created_at: 1763683200.125,
  updated_at: 1763683200.125,
  last_used: 1763683200.125,
  anomaly_detection: { is_enabled: false, instructions: '' },
  marketplace_id: '',
  parent_agentflow_id: '',
  agentflow_type: 'master',
  goal_structure: null,
  conclusion: null,
  failover_goal: null,
  agents: [exampleAgent],
};

export const newSkillExample = {
  name: 'Claims register',
  actions: [
    {
      name: 'Look up the claim',
      method: 'GET' as const,
      endpoint: 'https://claims.example.com/claims/{{ inputs.claim_number }}',
    },
  ],
};

export const newAgentExample = {
  _id: 'reader',
  title: 'Reader',
  prompt: { template: 'Read this for {{ goal }}' },
  max_turns: 6,
  max_total_tokens: 100_000,
  is_preview_mode_enabled: true,
  preview_timeout_seconds: 86_400,
  pre_and_post_execution_input: { pre: { claim_number: 'C-1' }, post: {} },
  skills: [newSkillExample],
  next_agent: 'writer',
};

export const newAgentflowExample = {
  name: 'Claim summary',
  agents: [newAgentExample, { _id: 'writer', title: 'Writer', prompt: { template: 'Sum up: {{ previous }}' } }],
};

export const exampleEditedAgentflow = {
  ...exampleAgentflow,
  updated_by: 'user-1',
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};
