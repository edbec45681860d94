import type { ActionResult } from './action-result.js';

export interface AgentOutput {
  agent_id: string;
  title: string;
  model: string;
  output: string;
  /** The JSON value of the output, if it has a schema. `output` is its text. */
  value?: unknown;
  actions: ActionResult[];
  usage: { input_tokens: number; output_tokens: number };
  started_at: number;
  ended_at: number;
  /** Where in the flow; absent for the main part. */
  path?: string;
  /** In a rerun: the execution that the output was taken from. */
  kept_from?: string;
}
