import type { PendingOutcome } from './exchange.js';

/** The kinds of elicitation that a client declares. An empty declaration means forms (MCP 2025-11-25, elicitation). */
export type Elicitation = { form?: unknown; url?: unknown } | undefined;

/** The maximum number of questions in one call. After that, the call ends as pending. */
export const maxQuestions = 3;

/**
 * Returns a form that asks the person to confirm that the call has been approved. It has no fields; only the response
 * counts.
 */
export function approvalForm(tool: string, held: PendingOutcome) {
  const message = `${heldText(tool, held)} Accept when it has been approved, to carry out the call; decline to leave it.`;
  return { message, requestedSchema: { type: 'object' as const, properties: {} } };
}

/** Returns a request to open the page of the approval. */
export function approvalPage(tool: string, held: PendingOutcome) {
  return {
    message: `${heldText(tool, held)} The page shows the call and its state; send the link to a person who may approve.`,
    url: held.approvalUrl,
  };
}

function heldText(tool: string, { approvalId, approvalUrl, expiresAt }: PendingOutcome): string {
  const until = new Date(expiresAt * 1000).toISOString();
  return `${tool} is held until somebody else approves it (approval ${approvalId}, can be decided until ${until} at ${approvalUrl}).`;
}

export function takesForms(elicitation: Elicitation): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

export function takesPages(elicitation: Elicitation): boolean {
  return elicitation?.url !== undefined;
}
