import { setTimeout as delay } from 'node:timers/promises';
import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { Router, type RequestHandler } from 'express';
import type { Deps } from '../../deps.js';
import { AppError } from '../../errors.js';
import { jsonBody } from '../../http/json-body.js';
import { onlyMethods } from '../../http/method-not-allowed.js';
import { traceIn } from '../../http/trace.js';
import type { Gateway } from '../create-gateway.js';
import { requireCredential } from '../surface.js';
import { createAuthenticate, credentialsOf, type Authenticate, type Caller } from './caller.js';
import { createContent } from './content.js';
import { createEventLog } from './event-log.js';
import { createModernHandler } from './modern-handler.js';
import { refuseRebinding } from './rebinding.js';
import { rpcErrorHandler } from './rpc-errors.js';
import { createSessions } from './sessions.js';
import { openSse, postMessage } from './sse.js';
import { streamableHttp, type StreamableLink } from './streamable-http.js';

export interface McpOptions {
  baseUrl(): string;
  version: string;
  limits?: Partial<McpLimits>;
}

export interface McpLimits {
  sessionsPerCaller: number;
  sessions: number;
  idleMs: number;
  /** How often idle sessions are looked for, and the credentials of open streams checked. */
  sweepMs: number;
  /** What is kept for clients whose stream broke. */
  resumableBytesPerSession: number;
  resumableBytes: number;
  resumableMs: number;
}

const defaultLimits: McpLimits = {
  sessionsPerCaller: 500,
  sessions: 10_000,
  idleMs: 30 * 60_000,
  sweepMs: 5000,
  resumableBytesPerSession: 1024 * 1024,
  resumableBytes: 64 * 1024 * 1024,
  resumableMs: 5 * 60_000,
};
const keepAliveMs = 15_000;
const graceMs = 5000;

export interface Mcp {
  router: Router;
  close(): Promise<void>;
  usage(): { sessions: number; events: number };
}

/** MCP at `/mcp` (Streamable HTTP), `/sse` and `/messages`; all of them serve the same content. */
export function createMcp(gateway: Gateway, deps: Deps, options: McpOptions): Mcp {
  const { baseUrl } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const authenticate = createAuthenticate(deps, baseUrl);
  const content = createContent(gateway, deps, { authenticate, version: options.version });
  const events = createEventLog({ sessionBytes: limits.resumableBytesPerSession, totalBytes: limits.resumableBytes, ageMs: limits.resumableMs });
  const sessionLimits = { perCaller: limits.sessionsPerCaller, total: limits.sessions, idleMs: limits.idleMs };
  const streamable = createSessions<StreamableLink>(sessionLimits, authenticate);
  const sse = createSessions<SSEServerTransport>(sessionLimits, authenticate);
  const modern = createModernHandler({ content, box: deps.auth.box, log: deps.log });

  const sweep = setInterval(() => {
    events.sweep();
    Promise.all([streamable.sweep(), sse.sweep()]).catch((error: unknown) => deps.log.error({ err: error }, 'the MCP sessions could not be checked'));
  }, limits.sweepMs).unref();
  const close = async () => {
    clearInterval(sweep);
    await answered(() => content.tools.running() === 0);
    await Promise.all([streamable.close(), sse.close(), modern.close()]);
  };
  deps.stopping.signal.addEventListener('abort', () => void close(), { once: true });

  const router = Router();
  const allowLocalhost = deps.config.environment !== 'production';
  const admit: RequestHandler[] = [
    refuseWhileStopping(deps.stopping.signal),
    refuseRebinding({ baseUrl, allowLocalhost }),
    requireCredential(baseUrl),
    identify(authenticate),
    ...jsonBody('1mb'),
    dropTheGone,
  ];
  const serve = streamableHttp({ content, sessions: streamable, events, modern });
  const sseDeps = { content, sessions: sse, baseUrl, keepAliveMs };
  router.route('/mcp').post(admit, serve).get(admit, serve).delete(admit, serve).all(onlyMethods('POST, GET, DELETE'));
  router.route('/sse').get(admit, openSse(sseDeps)).all(onlyMethods('GET'));
  router.route('/messages').post(admit, postMessage(sseDeps)).all(onlyMethods('POST'));
  router.use(['/mcp', '/sse', '/messages'], rpcErrorHandler);
  return { router, close, usage: () => ({ sessions: streamable.size() + sse.size(), events: events.size() }) };
}

/** Waits, within the grace, for the calls in flight and then for their answers to be sent. */
async function answered(done: () => boolean): Promise<void> {
  for (const deadline = Date.now() + graceMs; !done() && Date.now() < deadline; ) await delay(20);
  await delay(20);
}

/** Before the body is read: each request is good for itself, whatever session it names. */
function identify(authenticate: Authenticate): RequestHandler {
  return async (req, res, next) => {
    const credentials = credentialsOf(req);
    res.locals.caller = { ...credentials, principal: await authenticate(credentials), trace: traceIn(res) } satisfies Caller;
    next();
  };
}

function refuseWhileStopping(stopping: AbortSignal): RequestHandler {
  return (_req, _res, next) => {
    if (stopping.aborted) throw new AppError('unavailable', 'this process is stopping');
    next();
  };
}

/** Whoever left while the credential was checked gets no stream: its end, which would free it, is over already. */
const dropTheGone: RequestHandler = (_req, res, next) => {
  if (!res.destroyed) next();
};
