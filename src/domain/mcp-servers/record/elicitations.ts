import type { Deciders } from '../../../auth/decisions.js';
import { defineCollection, expiring } from '../../../stores/collections.js';
import type { ElicitationForm } from '../rules/elicitation-form.js';

/**
 * What an MCP server asks a person while an agent calls one of its tools. The same question of the same call has the same
 * `_id`, even if a worker was killed and the call is repeated. Times are epoch seconds.
 */
export interface McpElicitationDocument {
  _id: string;
  project_id: string;
  organization_id: string;
  execution_id: string;
  agent_id: string;
  step_id: string;
  connector_id: string;
  /** The person whose account at the server the call uses, who alone answers. Absent if the project's account is used. */
  owner_id?: string | undefined;
  /** The URL or command of the server. */
  server: string;
  tool: string;
  agentflow: string;
  /** Untrusted text of the server. */
  message: string;
  form: ElicitationForm;
  status: 'waiting' | 'accepted' | 'declined' | 'cancelled' | 'expired';
  asked_at: number;
  /** The call waits for the answer until this time. A pause of the run moves it by the length of the pause. */
  until: number;
  /** When the run was paused: the question does not expire until it continues. Absent before the first pause. */
  clock_stopped_at?: number | null;
  /** The person's values, as JSON bound to `_id`; null before the answer, and if the person gave none. */
  sealed: string | null;
  decided_by: string | null;
  decided_at: number | null;
  /** The operation that decided it, by which a repeated request is recognized. */
  decision_id: string | null;
  expires_at: Date;
}

/** Who may answer. Nobody has asked as a client of this service, so nobody is barred. */
export function decidersOf({ owner_id }: Pick<McpElicitationDocument, 'owner_id'>): Deciders {
  return { askers: [], owner: owner_id };
}

/** Questions and answers are deleted this long after the call. */
export const keptMs = 7 * 24 * 3600 * 1000;

/** Whether a person can still answer. A stopped clock ends with the step of the call, whose worker may be lost. */
export function isOpen({ status, until, clock_stopped_at, expires_at }: McpElicitationDocument, now: number): boolean {
  return status === 'waiting' && (until > now || (isStopped(clock_stopped_at) && expires_at > latestOf(now)));
}

/** When a question is deleted whose step ends now. */
function latestOf(now: number): Date {
  return new Date(now * 1000 + keptMs);
}

export function isStopped(clock: McpElicitationDocument['clock_stopped_at']): clock is number {
  return clock !== undefined && clock !== null;
}

/** The filter for questions that are open (`isOpen`). */
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
