import type { CallOutcome } from './exchange.js';

type Pending = Extract<CallOutcome, { kind: 'pending' }>;

/** Asks the person at the client to say when somebody has approved; an empty form, since only the answer counts. */
export function approvalQuestion(tool: string, { approvalId, expiresAt }: Pending) {
  const until = new Date(expiresAt * 1000).toISOString();
  const message = `${tool} is held until somebody else approves it (approval ${approvalId}, can be decided until ${until}). Accept when it has been approved, to carry out the call; decline to leave it.`;
  return { message, requestedSchema: { type: 'object' as const, properties: {} } };
}

/** Whether a client that declares this takes forms; an empty declaration means forms (MCP 2025-11-25, elicitation). */
export function takesForms(elicitation: { form?: unknown; url?: unknown } | undefined): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
