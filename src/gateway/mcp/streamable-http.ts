import { toNodeHandler } from '@modelcontextprotocol/node';
import { isLegacyRequest, type McpHttpHandler } from '@modelcontextprotocol/server';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../../errors.js';
import { carry, type Caller } from './caller.js';
import type { Content } from './content.js';
import type { EventLog, MissedEvent, SessionEvents } from './event-log.js';
import { createLegacyServer } from './legacy-server.js';
import { during, type Session, type Sessions } from './sessions.js';

export interface StreamableLink {
  transport: StreamableHTTPServerTransport;
  events: SessionEvents;
}

export interface StreamableDeps {
  content: Content;
  sessions: Sessions<StreamableLink>;
  events: EventLog;
  modern: McpHttpHandler;
}

/** POST, GET and DELETE of `/mcp`: the stateless revision by its own handler, everything before it in a session. */
export function streamableHttp(deps: StreamableDeps): RequestHandler {
  const serveModern = toNodeHandler(deps.modern);
  return async (req, res) => {
    const caller = res.locals.caller as Caller;
    carry(req, caller);
    if (req.method === 'POST' && !(await isLegacyRequest(headOf(req), req.body))) {
      await serveModern(req, res, req.body);
      return;
    }
    const id = req.get('mcp-session-id');
    if (id === undefined) await begin(deps, caller, req, res);
    else await serve(deps.sessions.use(id, caller), req, res);
  };
}

async function begin(deps: StreamableDeps, caller: Caller, req: Request, res: Response): Promise<void> {
  if (req.method !== 'POST' || !isInitializeRequest(req.body)) {
    throw new AppError('invalid_request', 'the header Mcp-Session-Id is required; initialize to get one');
  }
  const session = await deps.sessions.open(caller, async (id, gone) => {
    const events = deps.events.forSession();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id, eventStore: events });
    const server = createLegacyServer(deps.content);
    await server.connect(transport);
    server.onclose = () => {
      events.close();
      gone();
    };
    return { link: { transport, events }, end: () => server.close() };
  });
  try {
    await serve(session, req, res);
  } finally {
    // The first message was refused: no client knows of the session.
    if (session.link.transport.sessionId === undefined) await session.end();
  }
}

/** Answers within the session; a GET is a stream for what the server says unasked, or for what was missed. */
async function serve(session: Session<StreamableLink>, req: Request, res: Response): Promise<void> {
  const { transport, events } = session.link;
  during(session, res, req.method === 'GET' ? 'stream' : 'call');
  if (Array.isArray(req.body)) events.expectBatches();
  const lastEventId = req.get('last-event-id');
  const missed = req.method === 'GET' && lastEventId !== undefined ? events.missedToTheEnd(lastEventId) : undefined;
  if (missed) sendMissed(missed, transport.sessionId ?? '', res);
  else await transport.handleRequest(req, res, req.body);
}

/** The end of a stream that broke; the SDK would leave it open, though nothing can follow. */
function sendMissed(missed: readonly MissedEvent[], sessionId: string, res: Response): void {
  const frames = missed.map(({ id, message }) => `event: message\nid: ${id}\ndata: ${JSON.stringify(message)}\n\n`);
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'mcp-session-id': sessionId });
  res.end(frames.join(''));
}

/** What the SDK tells the generations apart by, beside the body that is given to it as parsed. */
function headOf(req: Request): globalThis.Request {
  const headers = new Headers();
  for (const name of ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = req.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers });
}
