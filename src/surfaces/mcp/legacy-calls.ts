import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  ElicitResultSchema,
  type CallToolRequest,
  type ElicitRequest,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import {
  approvalForm,
  approvalPage,
  maxQuestions,
  takesForms,
  takesPages,
  type Elicitation,
} from './approval-question.js';
import { attachedCaller, type CheckedCredentials } from './caller.js';
import type { Content } from './content.js';
import { resumeTokenMeta, type CallOutcome, type Exchange, type PendingOutcome } from './exchange.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { legacyCreated, legacyResult, legacyTask } from './task-views.js';
import { toolResult } from './tool-result.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface LegacyDeps {
  content: Content;
  server: Server;
  /**
   * Returns the credentials of the session's latest request, because clients renew tokens while a call waits for its
   * approval.
   */
  newest(): CheckedCredentials;
}

const questionTimeoutMs = 10 * 60_000;

export async function callTool(
  deps: LegacyDeps,
  { name, arguments: input = {}, task }: CallToolRequest['params'],
  extra: Extra,
) {
  const { content, newest } = deps;
  const exchange = exchangeOf(extra);
  const first = await content.tools.call(name, input, exchange);
  if (task) {
    const kept = await content.tasks.keep(name, input, first, exchange, 'always');
    if (!kept) throw new Error('the requested task was not created');
    return legacyCreated(kept);
  }
  const renewed = (): Exchange => ({ ...exchange, caller: { ...exchange.caller, ...newest() } });
  const outcome = await finish(deps, extra, name, first, {
    call: (approvalId) => content.tools.call(name, input, { ...renewed(), resume: { approvalId } }),
    decided: (held) => content.tools.decided(held, renewed()),
  });
  return toolResult(await content.tools.wait(name, input, outcome, renewed()));
}

interface HeldCall {
  call(approvalId: string): Promise<CallOutcome>;
  decided(held: PendingOutcome): Promise<boolean>;
}

/**
 * Asks the person to confirm after the call is approved. A client that cannot ask gets instructions to finish the call.
 */
async function finish(
  { server }: LegacyDeps,
  extra: Extra,
  tool: string,
  first: CallOutcome,
  held: HeldCall,
): Promise<CallOutcome> {
  const elicitation: Elicitation = server.getClientCapabilities()?.elicitation;
  let outcome = first;
  for (let asked = 0; asked < maxQuestions && outcome.kind === 'pending'; asked += 1) {
    const page = asked === 0 && takesPages(elicitation);
    if (!page && !takesForms(elicitation)) return outcome;
    const { approvalId } = outcome;
    if (
      !(await accepted(
        extra,
        page ? { mode: 'url', elicitationId: approvalId, ...approvalPage(tool, outcome) } : approvalForm(tool, outcome),
      ))
    )
      return outcome;
    if (page && !takesForms(elicitation) && !(await held.decided(outcome))) return outcome;
    outcome = await held.call(approvalId);
    if (page && outcome.kind !== 'pending')
      await server
        .createElicitationCompletionNotifier(approvalId, { relatedRequestId: extra.requestId })()
        .catch(() => undefined);
  }
  return outcome;
}

async function accepted(extra: Extra, params: ElicitRequest['params']): Promise<boolean> {
  const question = { method: 'elicitation/create' as const, params };
  const answer = await extra
    .sendRequest(question, ElicitResultSchema, { timeout: questionTimeoutMs, signal: extra.signal })
    .catch(() => undefined);
  return answer?.action === 'accept';
}

const resultPauseMs = 500;

/** Waits until the task ends (2025-11-25, `tasks/result`). */
export async function taskResult({ content, newest }: LegacyDeps, taskId: string, extra: Extra) {
  const exchange = exchangeOf(extra);
  for (;;) {
    const view = await content.tasks.read(taskId, { ...exchange, caller: { ...exchange.caller, ...newest() } });
    if (view.task.state === 'ended' || view.task.state === 'cancelled') return legacyResult(view);
    await delay(resultPauseMs, undefined, { signal: extra.signal });
  }
}

export async function cancelTask({ content }: LegacyDeps, taskId: string, extra: Extra) {
  const exchange = exchangeOf(extra);
  const { task } = await content.tasks.read(taskId, exchange);
  if (task.state === 'ended' || task.state === 'cancelled')
    throw rpcError(rpcCodes.invalidParams, `the task is ${task.state} and can no longer be cancelled`);
  return legacyTask(await content.tasks.cancel(taskId, exchange));
}

export function principalOf(extra: Extra) {
  return attachedCaller(extra.authInfo).principal;
}

export function exchangeOf(extra: Extra): Exchange {
  const { progressToken, [resumeTokenMeta]: token } = extra._meta ?? {};
  return {
    caller: attachedCaller(extra.authInfo),
    signal: extra.signal,
    progress:
      progressToken === undefined
        ? undefined
        : (progress) =>
            extra.sendNotification({ method: 'notifications/progress', params: { ...progress, progressToken } }),
    resume: { token: typeof token === 'string' ? token : undefined },
  };
}
