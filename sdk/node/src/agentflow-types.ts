/** What calls about agentflows take and give. Times are epoch seconds. */

export type ActionCategory = 'content_creator' | 'messaging' | 'professional_network' | 'mail' | 'restful';

export interface SchemaField {
  field_id: string;
  label?: string;
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'any';
  required?: boolean;
  description?: string;
}

export interface NewAction {
  _id?: string;
  name: string;
  description?: string;
  /** All but `restful`, the default, need a connector. */
  category?: ActionCategory;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  endpoint?: string;
  /** By default the place in `actions`. */
  sort?: number;
  previous_action_id?: string | null;
  next_action_id?: string | null;
  /** By default whether `next_action_id` is null. */
  is_terminal?: boolean;
  input_schema?: { fields?: SchemaField[] };
  output_schema?: { fields?: SchemaField[] };
}

export type Action = Required<NewAction>;

export interface NewSkill {
  _id?: string;
  name: string;
  description?: string;
  logo?: string;
  connector_id?: string | null;
  connector_name?: string;
  actions?: NewAction[];
  /** By default the first of `actions`; null runs none. */
  initial_action_id?: string | null;
}

export interface Skill extends Required<Omit<NewSkill, 'actions'>> {
  actions: Action[];
  projectID: string;
  user_id: string;
  is_deleted: boolean;
}

export interface NewAgent {
  _id?: string;
  title: string;
  role?: string;
  role_description?: string;
  agent_type?: string;
  llm?: { model?: string; temperature?: number; max_tokens?: number };
  prompt?: { template?: string; variables?: string[]; display_template?: string };
  skills?: NewSkill[];
  context?: unknown[];
  triggers?: unknown[];
  has_knowledge_base?: boolean;
  is_preview_mode_enabled?: boolean;
  preview_timeout_seconds?: number;
  pre_and_post_execution_input?: unknown;
  max_turns?: number;
  max_total_tokens?: number;
  /** Null ends the flow. */
  next_agent?: string | null;
}

type AgentBounds = Pick<NewAgent, 'max_turns' | 'max_total_tokens' | 'preview_timeout_seconds'>;
type AgentFields = Omit<NewAgent, keyof AgentBounds | 'llm' | 'prompt' | 'skills'>;

export interface Agent extends Required<AgentFields>, AgentBounds {
  llm: { model: string; temperature: number; max_tokens: number };
  prompt: { template: string; variables: string[]; display_template: string };
  skills: Skill[];
}

export interface NewAgentflow {
  name: string;
  image?: string;
  description?: string;
  role?: string;
  /** By default the first of `agents`. */
  initialAgent?: string;
  isActive?: boolean;
  agentflow_type?: string;
  goal_structure?: unknown;
  conclusion?: unknown;
  /** The goal with which the flow begins once more after a failure. */
  failover_goal?: unknown;
  anomaly_detection?: { is_enabled?: boolean; instructions?: string };
  agents?: NewAgent[];
}

export type AgentflowChanges = Partial<NewAgentflow>;

export interface Agentflow extends Required<Omit<NewAgentflow, 'agents' | 'anomaly_detection'>> {
  _id: string;
  projectID: string;
  organization_id: string;
  is_deleted: boolean;
  is_cron_scheduled: boolean;
  created_at: number;
  updated_at: number;
  /** `created_at` until the first execution. */
  last_used: number;
  anomaly_detection: { is_enabled: boolean; instructions: string };
  marketplace_id: string;
  parent_agentflow_id: string;
  agents: Agent[];
}

export interface Promotion {
  agentflow_id: string;
  version: number;
  promoted_at: number;
  promoted_by: string;
}
