import type { Principal } from '../auth/principal.js';
import type { StageId } from '../errors.js';
import type { Tool, ToolContext } from './tool.js';
import type { Trace } from '../http/trace.js';

/** A call as it came, by REST or MCP, before anything of it is believed. */
export interface ReceivedCall {
  tool: Tool;
  input: unknown;
  /** From the path, where the tool's route has parameters. */
  params: Readonly<Record<string, string>>;
  /** Every `Authorization` header; Node itself would drop a second one without a word. */
  authorization: readonly string[] | undefined;
  workspace: string | undefined;
  resumeToken: string | undefined;
  trace: Trace;
  signal: AbortSignal;
}

export interface StageRecord {
  stage: StageId;
  status: 'ok' | 'failed';
  detail: string;
}

/** From S2 on the call has a project, and with it a lifecycle that can be read there. */
export interface ScopedCall extends ReceivedCall {
  principal: Principal;
  ctx: ToolContext;
}

export interface ValidatedCall extends ScopedCall {
  validInput: unknown;
  prepared: unknown;
  dryRun: boolean;
  resource: { type: string; id: string };
  /** SHA-256 of the canonical payload: what an approval and its resume token are bound to. */
  payloadDigest: string;
}
