import { setTimeout as delay } from 'node:timers/promises';
import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { Router, type RequestHandler } from 'express';
import type { Deps } from '../../domain/deps.js';
import { AppError } from '../../base/errors.js';
import { cors } from '../../http/cors.js';
import { jsonBody } from '../../http/json-body.js';
import { onlyMethods } from '../../http/method-not-allowed.js';
import { traceIn } from '../../http/trace.js';
import { acceptAnything } from './accept.js';
import {
  challenged,
  createAuthenticate,
  createRecheckCredentials,
  credentialsOf,
  type Authenticate,
  type Caller,
} from './caller.js';
import { createContent } from './content.js';
import { createEventLog } from './event-log.js';
import { createListeners } from './listeners.js';
import { createModernHandler } from './modern-handler.js';
import { refuseRebinding } from './rebinding.js';
import { rpcErrorHandler } from './rpc-errors.js';
import { challengeScopes } from './scope-challenge.js';
import { createMcpSessions } from './mcp-sessions.js';
import { openSse, postMessage } from './sse.js';
import { streamableHttp, type StreamableLink } from './streamable-http.js';
import { withoutNullParams } from './without-null-params.js';

interface McpOptions {
  baseUrl(): string;
  version: string;
  limits?: Partial<McpLimits>;
}

export interface McpLimits {
  sessionsPerCaller: number;
  sessionsPerOrganization: number;
  sessions: number;
  idleMs: number;
  /**
   * The interval at which the service ends idle sessions, checks the credentials of open streams and looks for changes
   * to report on them.
   */
  sweepMs: number;
  /** The maximum bytes of sent messages that are kept for clients whose stream breaks. */
  resumableBytesPerSession: number;
  resumableBytes: number;
  resumableMs: number;
}

const defaultLimits: Omit<McpLimits, 'sessionsPerOrganization'> = {
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

export type Mcp = ReturnType<typeof createMcp>;

/** Serves MCP at `/mcp` (Streamable HTTP), `/sse` and `/messages`, with the same content at each. */
export function createMcp(deps: Deps, options: McpOptions) {
  const { baseUrl } = options;
  const limits = {
    ...defaultLimits,
    sessionsPerOrganization: deps.config.mcpSessionsPerOrganization,
    ...options.limits,
  };
  const authenticate = createAuthenticate(deps, baseUrl);
  const recheckCredentials = createRecheckCredentials(deps, authenticate);
  const content = createContent(deps, { authenticate, recheckCredentials, version: options.version, baseUrl });
  const events = createEventLog({
    sessionBytes: limits.resumableBytesPerSession,
    totalBytes: limits.resumableBytes,
    ageMs: limits.resumableMs,
  });
  const sessionLimits = {
    perCaller: limits.sessionsPerCaller,
    perOrganization: limits.sessionsPerOrganization,
    total: limits.sessions,
    idleMs: limits.idleMs,
  };
  const streamable = createMcpSessions<StreamableLink>(sessionLimits);
  const sse = createMcpSessions<SSEServerTransport>(sessionLimits);
  const listeners = createListeners({ content, recheckCredentials, ...versionsOf(deps), log: deps.log });
  const modern = createModernHandler({
    content,
    box: deps.auth.box,
    listeners,
    subscriptions: limits.sessions,
    log: deps.log,
  });

  const sweep = setInterval(() => {
    events.sweep();
    Promise.all([streamable.sweep(), sse.sweep(), listeners.look()]).catch((error: unknown) =>
      deps.log.error({ err: error }, 'the MCP sessions could not be checked'),
    );
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
    refuseRebinding({ baseUrl, allowLocalhost, origins: deps.config.corsOrigins ?? [] }),
    identify(authenticate, baseUrl),
    ...jsonBody('1mb'),
    withoutNullParams,
    skipClosedResponses,
    acceptAnything,
    challengeScopes(content, baseUrl),
  ];
  const serve = streamableHttp({
    content,
    sessions: streamable,
    events,
    listeners,
    listenersPerOrganization: limits.sessionsPerOrganization,
    modern,
  });
  const sseDeps = { content, sessions: sse, listeners, baseUrl, keepAliveMs };
  const { corsOrigins: origins } = deps.config;
  if (origins) router.all(['/mcp', '/sse', '/messages'], cors({ origins, methods: 'POST, GET, DELETE' }));
  router.route('/mcp').post(admit, serve).get(admit, serve).delete(admit, serve).all(onlyMethods('POST, GET, DELETE'));
  router.route('/sse').get(admit, openSse(sseDeps)).all(onlyMethods('GET'));
  router.route('/messages').post(admit, postMessage(sseDeps)).all(onlyMethods('POST'));
  router.use(['/mcp', '/sse', '/messages'], rpcErrorHandler);
  return { router, close, usage: () => ({ sessions: streamable.size() + sse.size(), events: events.size() }) };
}

/** Returns the versions of lists and resources, from which clients know when their copies are out of date. */
function versionsOf({ mongo: { collections }, governance }: Deps) {
  return {
    async ontologyVersion(projectId: string) {
      const [newest] = await collections.ontology_versions
        .find({ project_id: projectId }, { projection: { version: 1 } })
        .sort({ version: -1 })
        .limit(1)
        .toArray();
      return newest?.version ?? 0;
    },
    policyVersion: (organizationId: string) => governance.policies.versionInForce(organizationId),
  };
}

/** Waits, up to the grace period, until no call is in progress and then until the responses are sent. */
async function answered(done: () => boolean): Promise<void> {
  for (const deadline = Date.now() + graceMs; !done() && Date.now() < deadline;) await delay(20);
  await delay(20);
}

/** Authenticates each request before its body is read, whatever session it names. */
function identify(authenticate: Authenticate, baseUrl: () => string): RequestHandler {
  return async (req, res, next) => {
    const credentials = credentialsOf(req);
    const principal = await authenticate
      .whole(credentials)
      .catch((error: unknown) => Promise.reject(challenged(error, baseUrl(), req)));
    res.locals.caller = { ...credentials, principal, trace: traceIn(res) } satisfies Caller;
    next();
  };
}

function refuseWhileStopping(stopping: AbortSignal): RequestHandler {
  return (_req, _res, next) => {
    if (stopping.aborted) throw new AppError('unavailable', 'this process is stopping');
    next();
  };
}

/**
 * Skips a client that disconnected while its credential was checked. It must not get a stream, because the `close`
 * event that would free the stream has already fired.
 */
const skipClosedResponses: RequestHandler = (_req, res, next) => {
  if (!res.destroyed) next();
};
