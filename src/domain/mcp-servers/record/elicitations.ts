import { defineCollection, expiring } from '../../../stores/collections.js';
import type { ElicitationForm } from '../rules/elicitation-form.js';

export const elicitationStatuses = ['waiting', 'accepted', 'declined', 'cancelled', 'expired'] as const;

/**
 * What an MCP server asks a person while an agent calls one of its tools. `_id` is the same for the same question of the same
 * call, also if its worker was killed and the call is repeated. Times are epoch seconds.
 */
export interface McpElicitationDocument {
  _id: string;
  project_id: string;
  organization_id: string;
  execution_id: string;
  agent_id: string;
  step_id: string;
  connector_id: string;
  /** The URL or command of the server. */
  server: string;
  tool: string;
  agentflow: string;
  /** Untrusted text of the server. */
  message: string;
  form: ElicitationForm;
  status: (typeof elicitationStatuses)[number];
  asked_at: number;
  /** Until when the call waits for the answer. A pause of the run postpones it by its length. */
  until: number;
  /** When the run was paused: the question does not expire until it continues. Absent before the first pause. */
  clock_stopped_at?: number | null;
  /** The values that the person gave, as JSON bound to `_id`; null before, and if they gave none. */
  sealed: string | null;
  decided_by: string | null;
  decided_at: number | null;
  /** The operation that decided, so that a repeated request is recognized. */
  decision_id: string | null;
  expires_at: Date;
}

/** Questions and answers are deleted this long after the call. */
export const keptMs = 7 * 24 * 3600 * 1000;

/** Whether a person can still answer. A stopped clock does not outlast the step of the call, which may have lost its worker. */
export function isOpen({ status, until, clock_stopped_at, expires_at }: McpElicitationDocument, now: number): boolean {
  return status === 'waiting' && (until > now || (isStopped(clock_stopped_at) && expires_at > latestOf(now)));
}

/** When a question whose step ends now is deleted. */
function latestOf(now: number): Date {
  return new Date(now * 1000 + keptMs);
}

export function isStopped(clock: McpElicitationDocument['clock_stopped_at']): clock is number {
  return clock !== undefined && clock !== null;
}

/** Those that `isOpen`. */
export function openQuestions(now: number) {
  const stopped = { clock_stopped_at: { $gt: 0 }, expires_at: { $gt: latestOf(now) } };
  return { status: 'waiting' as const, $or: [{ until: { $gt: now } }, stopped] };
}

export const mcpElicitationsCollection = defineCollection('mcp_elicitations', {
  indexes: [{ keys: { project_id: 1, status: 1, asked_at: -1, _id: -1 } }, expiring],
  majorityRead: true,
});

declare module '../../../stores/collections.js' {
  interface Documents {
    mcp_elicitations: McpElicitationDocument;
  }
}
