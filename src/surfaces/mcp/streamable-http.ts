import { isLegacyRequest } from '@modelcontextprotocol/server';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  isInitializeRequest,
  isJSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../../base/errors.js';
import { isJsonObject } from '../../base/json.js';
import { attachCaller, type Caller } from './caller.js';
import type { Content } from './content.js';
import type { EventLog, MissedEvent, SessionEvents } from './event-log.js';
import { createLegacyServer } from './legacy-server.js';
import type { Listener, Listeners } from './listeners.js';
import type { ModernHandler } from './modern-handler.js';
import { countUntilClosed, type UnlinkedSession, type Session, type McpSessions } from './mcp-sessions.js';

export interface StreamableLink {
  transport: StreamableHTTPServerTransport;
  events: SessionEvents;
  listener: Listener;
  /** Whether the protocol version supports batches (before 2025-06-18). */
  batches: boolean;
  /** The ids of the requests that have not been answered yet. */
  unanswered: Set<RequestId>;
}

interface StreamableDeps {
  content: Content;
  sessions: McpSessions<StreamableLink>;
  events: EventLog;
  listeners: Listeners;
  /** The maximum number of subscription streams per organization. */
  listenersPerOrganization: number;
  modern: ModernHandler;
}

/**
 * Serves POST, GET and DELETE of `/mcp`. The stateless revision has its own handler; earlier revisions use a session.
 */
export function streamableHttp(deps: StreamableDeps): RequestHandler {
  return async (req, res) => {
    const caller = res.locals.caller as Caller;
    attachCaller(req, caller);
    if (req.method === 'POST' && !(await isLegacyRequest(headOf(req), req.body))) {
      refuseTooMany(deps, caller, req);
      await deps.modern.serve(caller, req, res);
      return;
    }
    const id = req.get('mcp-session-id');
    if (id === undefined) await begin(deps, caller, req, res);
    else await serve(deps, deps.sessions.use(id, caller), req, res);
  };
}

async function begin(deps: StreamableDeps, caller: Caller, req: Request, res: Response): Promise<void> {
  if (req.method !== 'POST' || !isInitializeRequest(req.body)) {
    if (isJsonObject(req.body) && req.body.method === 'initialize')
      throw new AppError(
        'invalid_request',
        'initialize: params must have protocolVersion, capabilities and clientInfo with name and version',
      );
    throw new AppError('invalid_request', 'the header Mcp-Session-Id is required; initialize to get one');
  }
  const session = await deps.sessions.open(caller, async (opening, onClosed) => {
    const events = deps.events.forSession();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => opening.id, eventStore: events });
    const { server, unanswered, connect, notify } = createLegacyServer(deps.content, () => opening.caller);
    await connect(transport);
    server.onclose = () => {
      events.close();
      onClosed();
    };
    const listener = listenerOf(opening, notify);
    deps.listeners.remember(listener);
    return {
      link: { transport, events, listener, batches: hasBatches(req.body as Initialize), unanswered },
      end: () => server.close(),
    };
  });
  try {
    await serve(deps, session, req, res);
  } finally {
    // The first message was refused, so no client knows about the session.
    if (session.link.transport.sessionId === undefined) await session.end();
  }
}

/** Serves a request within the session. A GET opens a stream for notifications, or resumes a broken one. */
async function serve(
  { listeners }: StreamableDeps,
  session: Session<StreamableLink>,
  req: Request,
  res: Response,
): Promise<void> {
  const { transport, events, listener, batches } = session.link;
  if (Array.isArray(req.body) && !batches)
    throw new AppError('invalid_request', 'this protocol version has no batches; send one message in each request');
  reserveIds(session.link, req, res);
  countUntilClosed(session, res, req.method === 'GET' ? 'stream' : 'call');
  if (req.method === 'GET') {
    const remove = listeners.add(listener);
    // Another stream of the session may be open, which must then remain the listener.
    res.once('close', () => {
      if (session.streams.size === 0) remove();
    });
  }
  if (Array.isArray(req.body)) events.expectBatches();
  const lastEventId = req.get('last-event-id');
  const isResume = req.method === 'GET' && lastEventId !== undefined;
  const missed = isResume ? events.missedToTheEnd(lastEventId) : undefined;
  if (isResume && !missed && !events.canResume(lastEventId))
    throw new AppError('invalid_request', 'the stream cannot be resumed after this event; open a new one');
  // The network of the client may have failed without this server noticing it, so the newest stream takes over.
  if (req.method === 'GET' && !isResume) transport.closeStandaloneSSEStream();
  if (missed) sendMissed(missed, transport.sessionId ?? '', res);
  else await transport.handleRequest(req, res, req.body);
}

/**
 * Refuses a request whose id an unanswered request has: the SDK would send both answers on the stream of the second one,
 * and the first one would never end.
 */
function reserveIds({ unanswered }: StreamableLink, { body }: Request, res: Response): void {
  const messages: unknown[] = [body].flat();
  const ids = messages.flatMap((message) => (isJSONRPCRequest(message) ? message.id : []));
  const repeated = ids.find((id, at) => unanswered.has(id) || ids.indexOf(id) < at);
  if (repeated !== undefined)
    throw new AppError(
      'invalid_request',
      `the request ${JSON.stringify(repeated).slice(0, 100)} of this session has not been answered yet; give each request its own id`,
    );
  for (const id of ids) unanswered.add(id);
  // The transport refused the whole body, so no request in it gets an answer.
  res.once('close', () => {
    if (res.statusCode >= 400) for (const id of ids) unanswered.delete(id);
  });
}

/**
 * Creates one listener for all streams of the session, so that a client also learns about changes between two streams.
 */
function listenerOf(session: UnlinkedSession, notify: Listener['notify']): Listener {
  const streams = () => [...session.streams];
  return {
    caller: () => session.caller,
    ready: () =>
      streams().some(
        ({ headersSent, statusCode, writableEnded }) => headersSent && statusCode === 200 && !writableEnded,
      ),
    notify,
    end: () => streams().forEach((stream) => stream.destroy()),
  };
}

interface Initialize {
  params?: { protocolVersion?: unknown };
}

function hasBatches({ params }: Initialize): boolean {
  const requestedVersion = String(params?.protocolVersion);
  return (
    (SUPPORTED_PROTOCOL_VERSIONS.includes(requestedVersion) ? requestedVersion : LATEST_PROTOCOL_VERSION) < '2025-06-18'
  );
}

function refuseTooMany(
  { listeners, listenersPerOrganization: maxListeners }: StreamableDeps,
  { principal }: Caller,
  { body }: Request,
): void {
  const listens = (body as { method?: unknown } | undefined)?.method === 'subscriptions/listen';
  if (!listens || listeners.of(principal.organizationId) < maxListeners) return;
  throw new AppError(
    'too_many_requests',
    `one organization can have at most ${maxListeners} MCP streams open at a time; close one`,
  );
}

/** Sends the rest of a broken stream and closes it. The SDK would leave it open although nothing can follow. */
function sendMissed(missed: readonly MissedEvent[], sessionId: string, res: Response): void {
  const frames = missed.map(({ id, message }) => `event: message\nid: ${id}\ndata: ${JSON.stringify(message)}\n\n`);
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'mcp-session-id': sessionId,
  });
  res.end(frames.join(''));
}

/**
 * Returns the request head from which the SDK recognizes the protocol revision. The parsed body is passed separately.
 */
function headOf(req: Request): globalThis.Request {
  const headers = new Headers();
  for (const name of ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = req.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers });
}
