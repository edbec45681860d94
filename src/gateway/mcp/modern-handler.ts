import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  inputResponse,
  Server,
  type McpHttpHandler,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { SecretBox } from '../../auth/secret-box.js';
import type { Logger } from '../../log.js';
import { approvalQuestion, takesForms } from './approval-question.js';
import { carried, ownerOf } from './caller.js';
import type { Content } from './content.js';
import { resumeTokenMeta, type CallOutcome, type Exchange } from './exchange.js';
import { openState, sealState, type RequestState } from './request-state.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { toolResult } from './tool-result.js';

export interface ModernDeps {
  content: Content;
  box: SecretBox;
  log: Logger;
}

const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** The content in the revision of 2026-07-28: stateless, a server for each request. */
export function createModernHandler(deps: ModernDeps): McpHttpHandler {
  return createMcpHandler(() => createModernServer(deps), {
    legacy: 'reject',
    onerror: (error) => deps.log.debug({ err: error }, 'an MCP request was not served'),
  });
}

function createModernServer({ content, box }: ModernDeps): Server {
  const server = new Server(content.info, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: content.instructions,
    jsonSchemaValidator,
    requestState: { verify: (sealed, ctx) => openState(box, sealed, ownerOf(principalOf(ctx))) },
  });
  server.setRequestHandler('tools/list', (_, ctx) => ({ tools: content.tools.list(principalOf(ctx)) }));
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(content, box, params.name, params.arguments ?? {}, ctx));
  server.setRequestHandler('resources/list', (_, ctx) => ({ resources: content.resources.list(principalOf(ctx)) }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params }, ctx) => ({ contents: [await content.resources.read(params.uri, exchangeOf(ctx))] }));
  server.setRequestHandler('prompts/list', (_, ctx) => ({ prompts: content.prompts.list(principalOf(ctx)) }));
  server.setRequestHandler('prompts/get', async ({ params }, ctx) => ({
    ...(await content.prompts.get(params.name, params.arguments ?? {}, exchangeOf(ctx))),
  }));
  return server;
}

/** A held call is answered by a question where the client takes one; its answer comes with the state that says which call it was. */
async function callTool(content: Content, box: SecretBox, name: string, input: Record<string, unknown>, ctx: ServerContext) {
  const state = ctx.mcpReq.requestState<RequestState>();
  if (state && state.tool !== name) throw rpcError(rpcCodes.invalidParams, 'Invalid or expired requestState');
  const answer = inputResponse(ctx.mcpReq.inputResponses, 'approval');
  if (state && answer.kind === 'elicit' && answer.action !== 'accept') return toolResult({ kind: 'pending', ...state });
  const exchange = exchangeOf(ctx);
  const outcome = await content.tools.call(name, input, { ...exchange, resume: { ...exchange.resume, approvalId: state?.approvalId } });
  return outcome.kind === 'pending' && canAsk(ctx) ? question(box, name, outcome, ctx) : toolResult(outcome);
}

function question(box: SecretBox, name: string, outcome: Extract<CallOutcome, { kind: 'pending' }>, ctx: ServerContext) {
  return inputRequired({
    inputRequests: { approval: inputRequired.elicit(approvalQuestion(name, outcome)) },
    requestState: sealState(box, ownerOf(principalOf(ctx)), name, outcome),
  });
}

function canAsk({ mcpReq }: ServerContext): boolean {
  const envelope = (mcpReq.envelope ?? {}) as Record<string, { elicitation?: { form?: unknown; url?: unknown } } | undefined>;
  return takesForms(envelope[CLIENT_CAPABILITIES_META_KEY]?.elicitation);
}

function principalOf({ http }: ServerContext) {
  return carried(http?.authInfo).principal;
}

function exchangeOf({ http, mcpReq }: ServerContext): Exchange {
  const { progressToken, [resumeTokenMeta]: token } = mcpReq._meta ?? {};
  return {
    caller: carried(http?.authInfo),
    signal: mcpReq.signal,
    progress:
      progressToken === undefined
        ? undefined
        : (progress) => mcpReq.notify({ method: 'notifications/progress', params: { ...progress, progressToken } }),
    resume: { token: typeof token === 'string' ? token : undefined },
  };
}
