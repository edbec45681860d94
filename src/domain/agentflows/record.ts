import { Digest } from '../../base/hash.js';
import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import {
  exampleAgent,
  exampleAgentflow,
  exampleEditedAgentflow,
  newAgentExample,
  newAgentflowExample,
} from './record/examples.js';
import { AnyJson, Id, JsonSchema, maxEntries, Name, Pointer, Text, Time } from './record/fields.js';
import { EmbeddedSkill, Skill } from './record/skills.js';
import { FlowStep } from './record/steps.js';
import { acceptingSentBack } from '../sent-back.js';
import type { ChannelPointer } from './record/channels.js';

const llmFields = {
  model: z.string().max(200).describe("If empty, the deployment's default model."),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .describe("If null, it is not sent: the model's own. Many models that think accept no other."),
  max_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .describe('The limit of one answer, which includes what the model thinks. If null, none is sent.'),
};
const promptFields = { template: Text, variables: z.array(z.string().max(200)), display_template: Text };
export const maxConcurrentRuns = 1000;
const RunLimit = z.int().min(1).max(maxConcurrentRuns).nullable().default(null);

/** How many runs of an agentflow go on at once (docs/decisions/0002). */
const Concurrency = z
  .strictObject({
    limit: RunLimit.describe('The maximum number of runs at once.'),
    key: Text.min(1)
      .nullable()
      .default(null)
      .describe('A Liquid template over the goal and the inputs of a run. Runs with the same text take turns.'),
    limit_per_key: RunLimit.describe('The maximum number of runs with the same key at once.'),
  })
  .meta({ id: 'Concurrency', example: { limit: 10, key: '{{ customer_id }}', limit_per_key: 1 } });
export type Concurrency = z.infer<typeof Concurrency>;

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
  output_schema: JsonSchema.nullable()
    .optional()
    .describe(
      'The JSON Schema (2020-12) of the output, which is then a JSON value. If absent or null, the output is a text.',
    ),
  next_agent: Pointer.nullable().describe(
    'The agent or step that runs next. Null ends the flow. The order of `agents` has no effect.',
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
    skills: z.array(EmbeddedSkill).max(maxEntries),
  })
  .partial();

export const AgentPatch = agentChanges
  .extend({ _id: Id.optional().describe('The id in the path, if the agent is sent back.') })
  .meta({ id: 'AgentPatch', example: { llm: { temperature: 0 }, next_agent: null } });
export type AgentPatch = z.infer<typeof AgentPatch>;

export const NewAgent = agentChanges
  .extend({ _id: Id.optional(), title: Name })
  .meta({
    id: 'AgentInput',
    description:
      'Defaults: `llm` is {model: "", temperature: null, max_tokens: null}, `agent_type` is `skilled_agent`, `next_agent` is null. All other fields are empty.',
    example: newAgentExample,
  });
export type NewAgent = z.infer<typeof NewAgent>;

const steps = z
  .array(FlowStep)
  .max(maxEntries)
  .optional()
  .describe(
    'What a flow does besides running agents. The ids of agents and steps are unique together. Absent in a chain.',
  );

/** The fields of an agentflow that a client sets, except its agents. */
const agentflowFields = {
  name: Name,
  image: Text,
  description: Text,
  role: Text,
  initialAgent: Pointer.describe(
    'The agent or step that runs first. Defaults to the first of `agents`. Empty if there are no agents and steps.',
  ),
  isActive: z.boolean(),
  agentflow_type: z.string().min(1).max(100),
  goal_structure: AnyJson,
  conclusion: AnyJson,
  failover_goal: AnyJson.describe(
    'Any JSON value. A string or `{template}` is the goal with which the flow restarts once after a failure.',
  ),
  concurrency: Concurrency.nullable()
    .optional()
    .describe('How many runs go on at once; others wait for their turn. If absent or null, any number.'),
  expose_as_tool: z
    .boolean()
    .optional()
    .describe(
      'Whether the release in production is an MCP tool of its own, named `flow_` and the name. Default false.',
    ),
  input_schema: JsonSchema.nullable()
    .optional()
    .describe('The JSON Schema (2020-12) of the inputs of a run: `runtime_inputs` and `input_variables` together.'),
  output_schema: JsonSchema.nullable()
    .optional()
    .describe('The JSON Schema (2020-12) of what a run returns. A run whose output does not match fails.'),
  steps,
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
    promoted_version: z
      .int()
      .optional()
      .describe('The release to which the channel `production` points. Absent before the first promotion.'),
    agents: z.array(Agent),
  })
  .meta({ id: 'Agentflow', example: exampleAgentflow });
export type Agentflow = z.infer<typeof Agentflow>;

/** An agentflow with what a change of it is based on. */
export const EditedAgentflow = Agentflow.extend({
  updated_by: z
    .string()
    .optional()
    .describe('The user id of the person who changed it last. Absent until the first change that was noted.'),
  digest: Digest.describe('What a change is based on: `expected` of `PATCH /agentflow/{id}`.'),
}).meta({ id: 'EditedAgentflow', example: exampleEditedAgentflow });
export type EditedAgentflow = z.infer<typeof EditedAgentflow>;

/**
 * `revision` is for optimistic locking; `hired_version` exists if it was hired; `edited_by` are its authors;
 * `last_added` is the record id of the request that added the last agent; `latest_version` is the number of its newest
 * release, and absent before the first one; `channels` has the pointers to its releases.
 */
export type AgentflowDocument = Agentflow & {
  revision: number;
  updated_by?: string;
  hired_version?: number;
  edited_by: string[];
  last_added?: string;
  latest_version?: number;
  channels?: Record<string, ChannelPointer>;
};

const agentflowChanges = z
  .strictObject({
    ...agentflowFields,
    projectID: z.string(),
    anomaly_detection: z.strictObject(anomalyFields).partial(),
    agents: z.array(NewAgent).max(maxEntries),
  })
  .partial();

/** The fields of `Agentflow` that a client cannot set. */
export const setByService = [
  '_id',
  'organization_id',
  'is_deleted',
  'is_cron_scheduled',
  'created_at',
  'updated_at',
  'last_used',
  'marketplace_id',
  'parent_agentflow_id',
  'promoted_version',
  'updated_by',
  'digest',
] as const satisfies readonly (keyof EditedAgentflow)[];

const patch = agentflowChanges.extend({
  expected: Digest.optional().describe(
    'What the change is based on: the `digest` as it was read, which is SHA-256 of the canonical JSON (RFC 8785) of the fields that a client sets, without `projectID`. If the agentflow has other content by now, the answer is 409.',
  ),
});

export const AgentflowPatch = acceptingSentBack(patch, setByService).meta({
  id: 'AgentflowPatch',
  example: { description: 'Reads claims' },
});
export type AgentflowPatch = z.infer<typeof AgentflowPatch>;

/** What a client sets. */
export const AgentflowContent = agentflowChanges.extend({ name: Name }).meta({ example: newAgentflowExample });
export type AgentflowContent = z.infer<typeof AgentflowContent>;

export const NewAgentflow = acceptingSentBack(AgentflowContent, setByService).meta({
  id: 'AgentflowInput',
  example: newAgentflowExample,
});
export type NewAgentflow = z.infer<typeof NewAgentflow>;

export const agentflowsCollection = defineCollection('agentflows', {
  indexes: [
    { keys: { projectID: 1, _id: -1 } },
    { keys: { projectID: 1, marketplace_id: 1, _id: -1 } },
    { keys: { projectID: 1, expose_as_tool: 1, _id: 1 } },
    { keys: { organization_id: 1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    agentflows: AgentflowDocument;
  }
}
