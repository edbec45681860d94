import type { Caller } from './caller.js';

export interface Progress {
  progress: number;
  total?: number;
  message: string;
}

/** One request of a client, of whichever protocol generation. */
export interface Exchange {
  caller: Caller;
  /** Aborted when the client cancels or the session or the process ends. */
  signal: AbortSignal;
  /** Undefined where the client gave no progress token. */
  progress: ((progress: Progress) => Promise<void>) | undefined;
  /** How a held call is finished: by the id of its approval, or by the resume token itself. */
  resume: { approvalId?: string | undefined; token?: string | undefined };
}

/** What a tool call came to; each protocol generation has its own words for it. */
export type CallOutcome =
  | { kind: 'answer'; body: Record<string, unknown> }
  | { kind: 'refusal'; body: Record<string, unknown> }
  | { kind: 'pending'; body: Record<string, unknown>; approvalId: string; expiresAt: number };

/** Where a client that holds a resume token itself puts it; the header's counterpart. */
export const resumeTokenMeta = 'svc/resume_token';
