import type { Agent } from './agentflow-types.js';

/** What calls about executions take and give. Times are epoch seconds. */

export type ExecutionStatus = 'ready' | 'running' | 'paused' | 'completed' | 'failed';

export interface NewExecution {
  agentflow_id: string;
  goal: string;
  input_variables?: Record<string, unknown>;
  runtime_inputs?: Record<string, unknown>;
  goal_template?: unknown;
  /** Documents that the agents read. */
  files?: ({ file_id: string } | { name: string; content: string; mime_type?: string })[];
  start_from_agent_id?: string | null;
  parent_execution_id?: string | null;
}

export interface AgentOutput {
  agent_id: string;
  title: string;
  model: string;
  output: string;
  actions: { action_id: string; skill_id: string; name: string; output: unknown }[];
  usage: { input_tokens: number; output_tokens: number };
  started_at: number;
  ended_at: number;
  /** In a rerun, the execution that the output was taken from. */
  kept_from?: string;
}

export interface Preview {
  preview_id: string;
  agent_id: string;
  title: string;
  status: 'waiting' | 'approved' | 'edited' | 'rejected' | 'expired';
  kind: 'actions' | 'output';
  /** The actions with their inputs, or `{output}`. */
  proposed: unknown;
  edits: unknown;
  requested_at: number;
  expires_at: number;
  decided_by: string | null;
  decided_at: number | null;
}

export interface Execution {
  _id: string;
  execution_id: string;
  projectID: string;
  agentflow_id: string;
  /** As it was when the execution was prepared. */
  agentflow: {
    agentflow_id: string;
    name: string;
    role: string;
    image: string;
    initialAgent: string;
    agents: Pick<Agent, '_id' | 'llm' | 'role' | 'role_description' | 'title' | 'agent_type' | 'next_agent'>[];
    conclusion: unknown;
  };
  task_id: string;
  parent_execution_id: string | null;
  goal: string;
  goal_template: unknown;
  schedule: unknown;
  start_from_agent_id: string | null;
  files: { name: string; mime_type: string; location: string; store?: 'blob' | 'file' }[];
  input_variables: Record<string, unknown>;
  runtime_inputs: Record<string, unknown>;
  /** Of a run that failed, `failure` tells why; of one that waits, `waiting_for` tells what for. */
  execution_context: Record<string, unknown>;
  /** By agent id. */
  previews: Record<string, Preview>;
  agents_output: AgentOutput[];
  anomaly_detected: { agent_id: string; finding: string; at: number }[] | null;
  conclusion: { conclusion: string; links: string[]; created_at: number } | null;
  created_at: number;
  end_time: number | null;
  executed_by: { _id: string; metadata: unknown; name: string; type: string };
  status: ExecutionStatus;
}

/** `edits` changes inputs by action id or call id, or is the text in place of an output. */
export interface PreviewDecision {
  agent_id: string;
  decision: 'approve' | 'reject';
  edits?: string | Record<string, unknown> | null;
  reason?: string;
}

export interface Step {
  step_id: string;
  kind: string;
  agent_id: string;
  skill_id: string | null;
  action_id: string | null;
  name: string;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  attempts: number;
  started_at: number;
  ended_at: number | null;
  error: string | null;
}

export interface Monitoring {
  execution_id: string;
  status: ExecutionStatus;
  workflow_id: string;
  /** Null until the execution was started. */
  run_id: string | null;
  temporal_ui_url: string | null;
  steps: Step[];
}

export interface MovedExecution {
  execution_id: string;
  status: ExecutionStatus;
}

export interface ExecutionEvent {
  seq: number;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

/** Words of a model turn that is under way; the whole text comes with the turn's event. */
export interface ModelDelta {
  type: 'model_delta';
  at: number;
  data: { after_seq: number; agent_id: string; step_id: string; attempt: number; n: number; text: string };
}
