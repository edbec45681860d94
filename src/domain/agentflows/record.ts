/* eslint-disable max-lines */
import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { ConnectorCategory } from '../connectors/record.js';
import { VisibleText } from '../../visible-text.js';
import { endpointProblem } from '../connectors/rules/provider-operations.js';
import {
  exampleAction,
  exampleAgent,
  exampleAgentflow,
  exampleField,
  exampleSkill,
  newAgentExample,
  newAgentflowExample,
  newSkillExample,
} from './record/examples.js';
import { fieldMarks } from '../../governance/approvals/summary.js';

const IdText = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be 1 to 100 letters, digits, "_", "." or "-"');
// Ids are names in objects: a run keeps its previews by agent id, and inputs by action id.
const Id = IdText.refine((id) => !(id in Object.prototype), 'must not be a reserved name such as "constructor"');
const Pointer = z.string().max(100);
const Name = VisibleText.min(1).max(200);
const Line = z.string().max(1000);
const Text = z.string().max(100_000);
const endpointMeta = {
  description:
    "For `restful`: an http(s) URL, or a path relative to the connector's base URL; Liquid templates are allowed after the host. For the other categories: the name of an operation, or a URL of the account provider's API. `mail` ignores it. For `mcp`: the name of an accepted tool.",
};
const summaryMeta = {
  description:
    'A Liquid template over the input fields: the one line that people read when they approve the action. Without it, the line is made from the name of the action and its fields.',
};
const AnyJson = z.unknown().describe('Any JSON value.');
const Time = z.number().describe('Epoch seconds.');

const Category = ConnectorCategory.describe('All categories except `restful` require a connector.');
const HttpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const FieldType = z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'any']);

const Mark = z
  .enum(fieldMarks)
  .describe(
    'What the field means. Summaries of approvals name it, and rules read it as `amount`, `currency` and `recipient_domains`. At most one field of an action is the amount, and one the currency.',
  );

export const SchemaField = z
  .object({
    field_id: z.string(),
    label: z.string(),
    type: FieldType,
    required: z.boolean(),
    description: z.string(),
    mark: Mark.optional(),
  })
  .meta({ id: 'SchemaField', example: exampleField });
export type SchemaField = z.infer<typeof SchemaField>;

export const NewSchemaField = z
  .strictObject({
    field_id: z.string().min(1).max(200),
    label: Line.default(''),
    type: FieldType.default('string'),
    required: z.boolean().default(false),
    description: Text.default(''),
    mark: Mark.optional(),
  })
  .meta({ id: 'NewSchemaField', example: exampleField });
export type NewSchemaField = z.infer<typeof NewSchemaField>;

/** Maximum length of each list of agents, skills, actions and fields. A longer list is refused before its entries are checked. */
const maxEntries = 1000;
const FieldList = z.object({ fields: z.array(SchemaField) });
const NewFieldList = z
  .strictObject({ fields: z.array(NewSchemaField).max(maxEntries).default([]) })
  .default({ fields: [] });

export const Action = z
  .object({
    _id: z.string(),
    name: z.string(),
    description: z.string(),
    category: Category,
    method: HttpMethod,
    endpoint: z.string().meta(endpointMeta),
    summary: z.string().optional().meta(summaryMeta),
    sort: z.number(),
    previous_action_id: z.string().nullable(),
    next_action_id: z.string().nullable(),
    is_terminal: z.boolean(),
    input_schema: FieldList,
    output_schema: FieldList,
  })
  .meta({ id: 'Action', example: exampleAction });
export type Action = z.infer<typeof Action>;

const newActionFields = {
  name: Name,
  description: Text.default(''),
  category: Category.default('restful'),
  method: HttpMethod.default('POST'),
  endpoint: z.string().trim().max(4000).default('').meta(endpointMeta),
  summary: z.string().trim().max(1000).optional().meta(summaryMeta),
  sort: z.number().optional().describe('Defaults to the position in `actions`.'),
  previous_action_id: Pointer.nullable().default(null),
  next_action_id: Pointer.nullable().default(null),
  is_terminal: z.boolean().optional().describe('Defaults to true if `next_action_id` is null.'),
  input_schema: NewFieldList,
  output_schema: NewFieldList,
};

function checkEndpoint({ category, endpoint }: Pick<Action, 'category' | 'endpoint'>, context: z.RefinementCtx): void {
  const problem = endpointProblem(category, endpoint);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['endpoint'], message: problem });
}

export const NewAction = z
  .strictObject({ _id: Id.optional(), ...newActionFields })
  .superRefine(checkEndpoint)
  .meta({ id: 'NewAction', example: exampleAction });
export type NewAction = z.infer<typeof NewAction>;

/** An action that is not embedded in a skill. Its id is the record id. */
export const NewStandaloneAction = z
  .strictObject({ ...newActionFields, projectID: z.string().optional() })
  .superRefine(checkEndpoint)
  .meta({
    id: 'NewStandaloneAction',
    example: { name: 'Look up the claim', method: 'GET', endpoint: '/claims/{{ inputs.claim_number }}' },
  });

export const Skill = z
  .object({
    _id: z.string(),
    name: z.string(),
    description: z.string(),
    logo: z.string(),
    projectID: z.string(),
    user_id: z.string(),
    connector_id: z.string().nullable(),
    connector_name: z.string(),
    is_deleted: z.boolean(),
    actions: z.array(Action),
    initial_action_id: z.string().nullable(),
  })
  .meta({ id: 'Skill', example: exampleSkill });
export type Skill = z.infer<typeof Skill>;

export const NewSkill = z
  .strictObject({
    _id: Id.optional(),
    name: Name,
    description: Text.default(''),
    logo: Text.default(''),
    connector_id: Pointer.nullable().default(null),
    connector_name: Line.default(''),
    actions: z.array(NewAction).max(maxEntries).default([]),
    initial_action_id: Pointer.nullish().describe('Defaults to the first of `actions`; null runs none.'),
  })
  .meta({ id: 'NewSkill', example: newSkillExample });
export type NewSkill = z.infer<typeof NewSkill>;

const llmFields = {
  model: z.string().max(200).describe("If empty, the deployment's default model."),
  temperature: z.number().min(0).max(2),
  max_tokens: z.int().min(1).max(1_000_000),
};
const promptFields = { template: Text, variables: z.array(z.string().max(200)), display_template: Text };
const anomalyFields = { is_enabled: z.boolean(), instructions: Text };

/** The fields of an agent that a client sets, except its id and skills. */
const agentFields = {
  title: Name,
  role: Text,
  role_description: Text,
  context: z.array(AnyJson),
  has_knowledge_base: z.boolean(),
  triggers: z.array(AnyJson),
  is_preview_mode_enabled: z.boolean(),
  pre_and_post_execution_input: z
    .unknown()
    .describe(
      'Any JSON value. In an object, `pre` provides inputs for the actions before the first model turn, and `post` for the tool calls after it.',
    ),
  agent_type: z.string().min(1).max(100),
  next_agent: Pointer.nullable().describe(
    'The agent that runs next. Null ends the flow. The order of `agents` has no effect.',
  ),
};

const agentBounds = {
  max_turns: z.int().min(1).max(100).optional().describe('Maximum number of model turns. Default 12.'),
  max_total_tokens: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe('Maximum number of tokens in all turns. Default 500,000.'),
  preview_timeout_seconds: z
    .number()
    .min(1)
    .max(366 * 24 * 3600)
    .optional()
    .describe('How long a preview waits for a decision. Default: seven days.'),
};

export const Agent = z
  .object({
    _id: z.string(),
    ...agentFields,
    ...agentBounds,
    llm: z.object(llmFields),
    prompt: z.object(promptFields),
    skills: z.array(Skill),
  })
  .meta({ id: 'Agent', example: exampleAgent });
export type Agent = z.infer<typeof Agent>;

const agentChanges = z
  .strictObject({
    ...agentFields,
    ...agentBounds,
    llm: z.strictObject(llmFields).partial(),
    prompt: z.strictObject(promptFields).partial(),
    skills: z.array(NewSkill).max(maxEntries),
  })
  .partial();

export const AgentPatch = agentChanges.meta({
  id: 'AgentPatch',
  example: { llm: { temperature: 0 }, next_agent: null },
});
export type AgentPatch = z.infer<typeof AgentPatch>;

export const NewAgent = agentChanges
  .extend({ _id: Id.optional(), title: Name })
  .meta({
    id: 'NewAgent',
    description:
      'Defaults: `llm` is {model: "", temperature: 0.2, max_tokens: 1024}, `agent_type` is `skilled_agent`, `next_agent` is null. All other fields are empty.',
    example: newAgentExample,
  });
export type NewAgent = z.infer<typeof NewAgent>;

/** The fields of an agentflow that a client sets, except its agents. */
const agentflowFields = {
  name: Name,
  image: Text,
  description: Text,
  role: Text,
  initialAgent: Pointer.describe('Defaults to the first of `agents`. Empty if there are no agents.'),
  isActive: z.boolean(),
  agentflow_type: z.string().min(1).max(100),
  goal_structure: AnyJson,
  conclusion: AnyJson,
  failover_goal: AnyJson.describe(
    'Any JSON value. A string or `{template}` is the goal with which the flow restarts once after a failure.',
  ),
};

export const Agentflow = z
  .object({
    _id: z.string(),
    ...agentflowFields,
    projectID: z.string(),
    organization_id: z.string(),
    is_deleted: z.boolean(),
    is_cron_scheduled: z.boolean(),
    created_at: Time,
    updated_at: Time,
    last_used: z.number().describe('Epoch seconds; `created_at` until the first execution.'),
    anomaly_detection: z.object(anomalyFields),
    marketplace_id: z.string(),
    parent_agentflow_id: z.string(),
    promoted_version: z.int().optional().describe('Absent before the first promotion.'),
    agents: z.array(Agent),
  })
  .meta({ id: 'Agentflow', example: exampleAgentflow });
export type Agentflow = z.infer<typeof Agentflow>;

/**
 * `revision` is for optimistic locking; `hired_version` exists if it was hired; `edited_by` are its authors since decision
 * 0100; `last_added` is the record id of the request that added the last agent.
 */
export type AgentflowDocument = Agentflow & {
  revision: number;
  hired_version?: number;
  edited_by?: string[];
  last_added?: string;
};

const agentflowChanges = z
  .strictObject({
    ...agentflowFields,
    projectID: z.string(),
    anomaly_detection: z.strictObject(anomalyFields).partial(),
    agents: z.array(NewAgent).max(maxEntries),
  })
  .partial();

export const AgentflowPatch = agentflowChanges.meta({ id: 'AgentflowPatch', example: { description: 'Reads claims' } });
export type AgentflowPatch = z.infer<typeof AgentflowPatch>;

export const NewAgentflow = agentflowChanges
  .extend({ name: Name })
  .meta({ id: 'NewAgentflow', example: newAgentflowExample });
export type NewAgentflow = z.infer<typeof NewAgentflow>;

export const agentflowsCollection = defineCollection('agentflows', {
  indexes: [
    { keys: { projectID: 1, _id: -1 } },
    { keys: { projectID: 1, marketplace_id: 1, _id: -1 } },
    { keys: { organization_id: 1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    agentflows: AgentflowDocument;
  }
}
