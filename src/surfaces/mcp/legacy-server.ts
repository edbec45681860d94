import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  CancelledNotificationSchema,
  CancelTaskRequestSchema,
  GetPromptRequestSchema,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { CheckedCredentials } from './caller.js';
import type { Content } from './content.js';
import { callTool, cancelTask, exchangeOf, principalOf, taskResult, type LegacyDeps } from './legacy-calls.js';
import type { Change } from './listeners.js';
import { malformed } from './malformed.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { legacyTask } from './task-views.js';

/** Shared by all servers, because building a validator costs more than the rest of a session. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  tasks: { cancel: {}, requests: { tools: { call: {} } } },
};

/**
 * Creates the server that serves the content to one session, in the protocol versions up to 2025-11-25. The pipeline
 * checks the arguments, not this server.
 */
export function createLegacyServer(content: Content, newest: () => CheckedCredentials) {
  const server = new Server(content.info, { capabilities, instructions: content.instructions, jsonSchemaValidator });
  const deps: LegacyDeps = { content, server, newest };
  const subscribed = new Set<string>();
  const unanswered = new Set<RequestId>();
  serveTools(deps);
  serveResources(deps, subscribed);
  server.setRequestHandler(ListPromptsRequestSchema, (_, extra) => ({
    prompts: content.prompts.list(principalOf(extra)),
  }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }, extra) => ({
    ...(await content.prompts.get(params.name, params.arguments ?? {}, exchangeOf(extra))),
  }));
  return {
    server,
    /** The ids of the requests that have not been answered yet. */
    unanswered,
    async connect(transport: Transport): Promise<void> {
      await server.connect(transport);
      answerEach(transport, unanswered);
    },
    /** Notifies the client of a change on its open stream. */
    notify: (change: Change) => void notify(server, subscribed, change).catch(() => undefined),
  };
}

function serveTools(deps: LegacyDeps): void {
  const { content, server } = deps;
  server.setRequestHandler(ListToolsRequestSchema, async (_, extra) => {
    const principal = principalOf(extra);
    return { tools: content.tools.list(principal, await content.tools.ofProject(principal.projectId)) };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => callTool(deps, params, extra));
  server.setRequestHandler(GetTaskRequestSchema, async ({ params }, extra) =>
    legacyTask(await content.tasks.read(params.taskId, exchangeOf(extra))),
  );
  server.setRequestHandler(GetTaskPayloadRequestSchema, ({ params }, extra) => taskResult(deps, params.taskId, extra));
  server.setRequestHandler(CancelTaskRequestSchema, ({ params }, extra) => cancelTask(deps, params.taskId, extra));
}

function serveResources({ content, server }: LegacyDeps, subscribed: Set<string>): void {
  server.setRequestHandler(ListResourcesRequestSchema, (_, extra) => ({
    resources: content.resources.list(principalOf(extra)),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, extra) => ({
    contents: [await content.resources.read(params.uri, exchangeOf(extra))],
  }));
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }, extra) => {
    if (!content.resources.list(principalOf(extra)).some((resource) => resource.uri === uri)) {
      throw rpcError(rpcCodes.resourceNotFound, `the resource ${uri.slice(0, 200)} does not exist`);
    }
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
}

async function notify(server: Server, subscribed: ReadonlySet<string>, change: Change): Promise<void> {
  switch (change.kind) {
    case 'tools_list_changed':
      return server.sendToolListChanged();
    case 'prompts_list_changed':
      return server.sendPromptListChanged();
    case 'resources_list_changed':
      return server.sendResourceListChanged();
    case 'resource_updated':
      return subscribed.has(change.uri) ? server.sendResourceUpdated({ uri: change.uri }) : undefined;
  }
}

/**
 * Answers what the SDK does not: it would respond to invalid parameters with an internal error and a dump of its schema,
 * and would keep the stream of a cancelled request open for the rest of the session.
 */
function answerEach(transport: Transport, unanswered: Set<RequestId>): void {
  const { onmessage: deliver } = transport;
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (isAnswer(message)) unanswered.delete(message.id);
    return send(message, options);
  };
  const refuse = (id: RequestId, error: { code: number; message: string }) =>
    void transport.send({ jsonrpc: '2.0', id, error }, { relatedRequestId: id }).catch(() => undefined);
  transport.onmessage = (message, extra) => {
    const refused = malformed(message);
    if (refused) {
      refuse(refused.id, { code: rpcCodes.invalidParams, message: refused.problem });
      return;
    }
    if ('method' in message && 'id' in message) unanswered.add(message.id);
    deliver?.(message, extra);
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined && unanswered.has(cancelled))
      refuse(cancelled, { code: rpcCodes.server, message: 'Request cancelled' });
  };
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return CancelledNotificationSchema.safeParse(message).data?.params.requestId;
}

function isAnswer(message: JSONRPCMessage): message is JSONRPCMessage & { id: RequestId } {
  return 'id' in message && !('method' in message);
}
