import type { Caller } from './caller.js';

interface Progress {
  progress: number;
  total?: number;
  message: string;
}

/** One request of a client, in any protocol version. */
export interface Exchange {
  caller: Caller;
  /** Aborted when the client cancels, or when the session or the process ends. */
  signal: AbortSignal;
  /** Undefined if the client sent no progress token. */
  progress: ((progress: Progress) => Promise<void>) | undefined;
  /** Resumes a held call: the id of its approval, or the resume token. */
  resume: { approvalId?: string | undefined; token?: string | undefined };
}

/** The outcome of a tool call. Each protocol version presents it in its own form. */
export type CallOutcome =
  | { kind: 'answer'; body: Record<string, unknown> }
  | { kind: 'refusal'; body: Record<string, unknown> }
  | PendingOutcome;

export interface PendingOutcome {
  kind: 'pending';
  body: Record<string, unknown>;
  approvalId: string;
  /** The page where a person decides on the approval. */
  approvalUrl: string;
  /** Epoch seconds. */
  expiresAt: number;
}

/** The `_meta` key for a client that holds a resume token. It corresponds to the REST header. */
export const resumeTokenMeta = 'svc/resume_token';
