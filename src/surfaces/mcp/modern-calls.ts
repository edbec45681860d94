import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type CallToolRequest,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { SecretBox } from '../../auth/secret-box.js';
import {
  approvalForm,
  approvalPage,
  maxQuestions,
  takesForms,
  takesPages,
  type Elicitation,
} from './approval-question.js';
import { attachedCaller, ownerOf } from './caller.js';
import type { Content } from './content.js';
import { resumeTokenMeta, type CallOutcome, type Exchange, type PendingOutcome } from './exchange.js';
import { sealState, type RequestState } from './request-state.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { modernCreated, tasksExtension } from './task-views.js';
import { toolResult } from './tool-result.js';

/**
 * Calls a tool. If a policy holds the call and the client supports elicitation, the result is a question. The client
 * returns it with a sealed state that identifies the call. If the call started a run and the client supports tasks, the
 * result is a task.
 */
export async function callTool(
  deps: { content: Content; box: SecretBox },
  { name, arguments: input = {} }: CallToolRequest['params'],
  ctx: ServerContext,
) {
  const { tools, tasks } = deps.content;
  const state = ctx.mcpReq.requestState<RequestState>();
  if (state && state.tool !== name) throw rpcError(rpcCodes.invalidParams, 'Invalid or expired requestState');
  const answer = inputResponse(ctx.mcpReq.inputResponses, 'approval');
  if (state && answer.kind === 'elicit' && answer.action !== 'accept') return toolResult({ kind: 'pending', ...state });
  const exchange = exchangeOf(ctx);
  const call = (approvalId: string | undefined) =>
    tools.call(name, input, { ...exchange, resume: { ...exchange.resume, approvalId } });

  let outcome = await call(state?.approvalId);
  const question =
    outcome.kind === 'pending' ? nextQuestion(deps.box, name, outcome, state?.asked ?? 0, ctx) : undefined;
  if (question) return question;
  const kept = hasTasks(ctx) ? await tasks.keep(name, input, outcome, exchange) : undefined;
  // The SDK's types require the content of a tool result. A created task has none (SEP-2663).
  if (kept) return modernCreated(kept) as unknown as CallToolResult;
  outcome = await whenDecided(deps.content, outcome, exchange, {
    opened: state !== undefined && !takesForms(elicitationOf(ctx)),
    call,
  });
  return toolResult(await tools.wait(name, input, outcome, exchange));
}

/**
 * Waits for the decision after the client opened the approval page, because the client does not report when the person
 * closes it.
 */
async function whenDecided(
  { tools }: Content,
  outcome: CallOutcome,
  exchange: Exchange,
  { opened, call }: { opened: boolean; call(approvalId: string): Promise<CallOutcome> },
): Promise<CallOutcome> {
  if (outcome.kind !== 'pending' || !opened || !(await tools.decided(outcome, exchange))) return outcome;
  return call(outcome.approvalId);
}

/**
 * Returns the next question: first the approval page, then a form, up to the maximum number of questions. A task
 * replaces the form.
 */
function nextQuestion(box: SecretBox, tool: string, held: PendingOutcome, asked: number, ctx: ServerContext) {
  const elicitation = elicitationOf(ctx);
  const page = asked === 0 && takesPages(elicitation);
  if (!page && (asked >= maxQuestions || hasTasks(ctx) || !takesForms(elicitation))) return undefined;
  const approval = page
    ? inputRequired.elicitUrl(approvalPage(tool, held))
    : inputRequired.elicit(approvalForm(tool, held));
  const requestState = sealState(box, held, { owner: ownerOf(principalOf(ctx)), tool, asked: asked + 1 });
  return inputRequired({ inputRequests: { approval }, requestState });
}

interface Declared {
  elicitation?: Elicitation;
  extensions?: Record<string, unknown>;
}

function declared({ mcpReq }: ServerContext): Declared {
  const envelope = (mcpReq.envelope ?? {}) as Record<string, Declared | undefined>;
  return envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};
}

function elicitationOf(ctx: ServerContext): Elicitation {
  return declared(ctx).elicitation;
}

export function hasTasks(ctx: ServerContext): boolean {
  return declared(ctx).extensions?.[tasksExtension] !== undefined;
}

export function principalOf({ http }: ServerContext) {
  return attachedCaller(http?.authInfo).principal;
}

export function exchangeOf({ http, mcpReq }: ServerContext): Exchange {
  const { progressToken, [resumeTokenMeta]: token } = mcpReq._meta ?? {};
  return {
    caller: attachedCaller(http?.authInfo),
    signal: mcpReq.signal,
    progress:
      progressToken === undefined
        ? undefined
        : (progress) => mcpReq.notify({ method: 'notifications/progress', params: { ...progress, progressToken } }),
    resume: { token: typeof token === 'string' ? token : undefined },
  };
}
