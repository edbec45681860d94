import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import type { RequestHandler } from 'express';
import { AppError } from '../../base/errors.js';
import { authOf, type Caller } from './caller.js';
import type { Content } from './content.js';
import type { Listeners } from './listeners.js';
import { createLegacyServer } from './legacy-server.js';
import { countUntilClosed, type McpSessions } from './mcp-sessions.js';

interface SseDeps {
  content: Content;
  sessions: McpSessions<SSEServerTransport>;
  listeners: Listeners;
  baseUrl(): string;
  keepAliveMs: number;
}

/** A client with more unread bytes than this is disconnected. */
const maxUnreadBytes = 16 * 1024 * 1024;

/** Serves `GET /sse`: opens the stream of the 2024-11-05 transport. The session ends with the stream. */
export function openSse({ content, sessions, listeners, baseUrl, keepAliveMs }: SseDeps): RequestHandler {
  return async (_req, res) => {
    const session = await sessions.open(res.locals.caller as Caller, async (opening, onClosed) => {
      const transport = new SSEServerTransport(
        `${new URL(baseUrl()).pathname.replace(/\/$/, '')}/messages?session=${opening.id}`,
        res,
      );
      const { server, connect, notify } = createLegacyServer(content, () => opening.caller);
      const alive = setInterval(() => {
        if (res.writableLength > maxUnreadBytes) res.destroy();
        else res.write(': keepalive\n\n');
      }, keepAliveMs).unref();
      server.onclose = () => {
        clearInterval(alive);
        onClosed();
      };
      return { link: transport, end: () => server.close(), begin: () => connect(transport), notify };
    });
    countUntilClosed(session, res, 'stream');
    res.once(
      'close',
      listeners.add({
        caller: () => session.caller,
        ready: () => res.headersSent,
        notify: session.notify,
        end: () => res.destroy(),
      }),
    );
    await session.begin();
  };
}

/** Serves `POST /messages?session=`: receives a message. The response is sent on the stream. */
export function postMessage({ sessions }: SseDeps): RequestHandler {
  return async (req, res) => {
    const { session: id } = req.query;
    if (typeof id !== 'string') throw new AppError('invalid_request', 'session: required; open /sse to get one');
    const caller = res.locals.caller as Caller;
    const session = sessions.use(id, caller);
    countUntilClosed(session, res, 'call');
    // `handlePostMessage` of the library would refuse a message with a text that does not name the problem.
    await session.link.handleMessage(req.body, { authInfo: authOf(caller) }).catch((cause: unknown) => {
      throw new AppError('invalid_request', 'the body must be one JSON-RPC 2.0 message', { cause });
    });
    res.status(202).end('Accepted');
  };
}
