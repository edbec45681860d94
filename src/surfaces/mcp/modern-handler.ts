import { AsyncLocalStorage } from 'node:async_hooks';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server, type McpHttpHandler, type ServerEventBus } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import type { Logger } from '../../log.js';
import { ownerOf, type Caller } from './caller.js';
import type { Content } from './content.js';
import type { Listeners } from './listeners.js';
import { malformed } from './malformed.js';
import { callTool, exchangeOf, hasTasks, principalOf } from './modern-calls.js';
import { openState } from './request-state.js';
import { rpcCodes, rpcError } from './rpc-errors.js';
import { modernTask, tasksExtension } from './task-views.js';

interface ModernDeps {
  content: Content;
  box: SecretBox;
  listeners: Listeners;
  /** The maximum of all callers together. */
  subscriptions: number;
  log: Logger;
}

export type ModernHandler = ReturnType<typeof createModernHandler>;

const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** Subscribers are notified when a list changes. Other clients fetch it again after this time. */
const listed = { ttlMs: 300_000, cacheScope: 'private' } as const;

/** The methods of earlier revisions that this one has removed. */
const removedMethods: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe', 'tasks/result']);

const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  extensions: { [tasksExtension]: {} },
};

/** Creates the handler of the 2026-07-28 revision, which is stateless, with one server per request. */
export function createModernHandler(deps: ModernDeps) {
  const asking = new AsyncLocalStorage<{ caller: Caller; res: Response }>();
  const handler: McpHttpHandler = createMcpHandler(() => createModernServer(deps), {
    legacy: 'reject',
    bus: busOf(deps.listeners, asking),
    maxSubscriptions: deps.subscriptions,
    onerror: (error) => deps.log.debug({ err: error }, 'an MCP request was not served'),
  });
  const serve = toNodeHandler(handler);
  return {
    async serve(caller: Caller, req: Request, res: Response): Promise<void> {
      const refused = malformed(req.body, removedMethods);
      if (refused)
        res.json({ jsonrpc: '2.0', id: refused.id, error: { code: rpcCodes.invalidParams, message: refused.problem } });
      else await asking.run({ caller, res }, () => serve(req, res, req.body));
    },
    close: () => handler.close(),
  };
}

/**
 * Converts each `subscriptions/listen` to a listener with its own caller, who is only notified about changes in their
 * own project.
 */
function busOf(listeners: Listeners, asking: AsyncLocalStorage<{ caller: Caller; res: Response }>): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe(notify) {
      const request = asking.getStore();
      if (!request) throw new Error('the subscription has no caller');
      const { authorization, workspace, principal } = request.caller;
      return listeners.add({
        caller: () => ({ authorization, workspace, principal }),
        ready: () => true,
        notify,
        end: () => request.res.destroy(),
      });
    },
  };
}

function createModernServer(deps: ModernDeps): Server {
  const { content, box } = deps;
  const server = new Server(content.info, {
    capabilities,
    instructions: content.instructions,
    jsonSchemaValidator,
    cacheHints: {
      'tools/list': listed,
      'resources/list': listed,
      'resources/templates/list': listed,
      'prompts/list': listed,
    },
    requestState: { verify: (sealed, ctx) => openState(box, sealed, ownerOf(principalOf(ctx))) },
  });
  server.setRequestHandler('tools/list', async (_, ctx) => {
    const principal = principalOf(ctx);
    return { tools: content.tools.list(principal, await content.tools.ofProject(principal.projectId)) };
  });
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool({ content, box }, params, ctx));
  server.setRequestHandler('resources/list', (_, ctx) => ({ resources: content.resources.list(principalOf(ctx)) }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params }, ctx) => ({
    contents: [await content.resources.read(params.uri, exchangeOf(ctx))],
  }));
  server.setRequestHandler('prompts/list', (_, ctx) => ({ prompts: content.prompts.list(principalOf(ctx)) }));
  server.setRequestHandler('prompts/get', async ({ params }, ctx) => ({
    ...(await content.prompts.get(params.name, params.arguments ?? {}, exchangeOf(ctx))),
  }));
  serveTasks(server, content);
  return server;
}

/** Serves tasks (SEP-2663). Tasks of this service never ask the client for input, so `tasks/update` does nothing. */
function serveTasks(server: Server, { tasks }: Content): void {
  const params = z.looseObject({ taskId: z.string() });
  const serve = (
    method: string,
    answer: (taskId: string, exchange: ReturnType<typeof exchangeOf>) => Promise<Record<string, unknown>>,
  ) =>
    server.setRequestHandler(method, { params }, ({ taskId }, ctx) => {
      if (!hasTasks(ctx)) {
        throw rpcError(rpcCodes.missingCapability, `${method} needs the client capability ${tasksExtension}`, {
          requiredCapabilities: { extensions: { [tasksExtension]: {} } },
        });
      }
      return answer(taskId, exchangeOf(ctx));
    });
  serve('tasks/get', async (taskId, exchange) => modernTask(await tasks.read(taskId, exchange)));
  serve('tasks/update', async (taskId, exchange) => tasks.read(taskId, exchange).then(() => ({})));
  serve('tasks/cancel', async (taskId, exchange) => tasks.cancel(taskId, exchange).then(() => ({})));
}
