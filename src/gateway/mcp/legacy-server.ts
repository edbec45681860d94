import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { approvalQuestion, takesForms } from './approval-question.js';
import { carried } from './caller.js';
import type { Content } from './content.js';
import { resumeTokenMeta, type CallOutcome, type Exchange } from './exchange.js';
import { rpcCodes } from './rpc-errors.js';
import { toolResult } from './tool-result.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** One for all servers: each would otherwise build a validator of its own, which costs more than the rest of a session. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();
const questions = { most: 3, timeoutMs: 10 * 60_000 };

/** The content for one session, in the protocol versions up to 2025-11-25. Arguments are checked by the pipeline, not here. */
export function createLegacyServer(content: Content): Server {
  const options = { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: content.instructions, jsonSchemaValidator };
  const server = new Server(content.info, options);
  server.setRequestHandler(ListToolsRequestSchema, (_, extra) => ({ tools: content.tools.list(principalOf(extra)) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const ended = endStreamOnCancel(server, extra);
    const exchange = exchangeOf(extra);
    const call = (resume: Exchange['resume']) => content.tools.call(params.name, params.arguments ?? {}, { ...exchange, resume });
    try {
      return toolResult(await finish(server, extra, params.name, await call(exchange.resume), call));
    } finally {
      ended();
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, (_, extra) => ({ resources: content.resources.list(principalOf(extra)) }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, extra) => ({ contents: [await content.resources.read(params.uri, exchangeOf(extra))] }));
  server.setRequestHandler(ListPromptsRequestSchema, (_, extra) => ({ prompts: content.prompts.list(principalOf(extra)) }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }, extra) => ({
    ...(await content.prompts.get(params.name, params.arguments ?? {}, exchangeOf(extra))),
  }));
  return server;
}

/** Asks the person to come back once the call is approved, where the client can ask; else the client is told how to finish. */
async function finish(
  server: Server,
  extra: Extra,
  tool: string,
  first: CallOutcome,
  call: (resume: Exchange['resume']) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  let outcome = first;
  for (let asked = 0; asked < questions.most && outcome.kind === 'pending' && takesForms(server.getClientCapabilities()?.elicitation); asked += 1) {
    const question = { method: 'elicitation/create' as const, params: approvalQuestion(tool, outcome) };
    const answer = await extra
      .sendRequest(question, ElicitResultSchema, { timeout: questions.timeoutMs, signal: extra.signal })
      .catch(() => undefined);
    if (answer?.action !== 'accept') return outcome;
    outcome = await call({ approvalId: outcome.approvalId });
  }
  return outcome;
}

/** The SDK says nothing more of a cancelled request, and would leave its stream open for as long as the session lives. */
function endStreamOnCancel(server: Server, { signal, requestId }: Extra): () => void {
  const end = () => {
    const error = { code: rpcCodes.server, message: 'Request cancelled' };
    server.transport?.send({ jsonrpc: '2.0', id: requestId, error }).catch(() => undefined);
  };
  signal.addEventListener('abort', end, { once: true });
  return () => signal.removeEventListener('abort', end);
}

function principalOf(extra: Extra) {
  return carried(extra.authInfo).principal;
}

function exchangeOf(extra: Extra): Exchange {
  const { progressToken, [resumeTokenMeta]: token } = extra._meta ?? {};
  return {
    caller: carried(extra.authInfo),
    signal: extra.signal,
    progress:
      progressToken === undefined
        ? undefined
        : (progress) => extra.sendNotification({ method: 'notifications/progress', params: { ...progress, progressToken } }),
    resume: { token: typeof token === 'string' ? token : undefined },
  };
}
