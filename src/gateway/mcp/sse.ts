import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import type { RequestHandler } from 'express';
import { AppError } from '../../errors.js';
import { carry, type Caller } from './caller.js';
import type { Content } from './content.js';
import { createLegacyServer } from './legacy-server.js';
import { during, type Sessions } from './sessions.js';

export interface SseDeps {
  content: Content;
  sessions: Sessions<SSEServerTransport>;
  baseUrl(): string;
  keepAliveMs: number;
}

/** More than this unread, and the client is as good as gone. */
const mostUnreadBytes = 16 * 1024 * 1024;

/** `GET /sse`: the stream of the transport of 2024-11-05. Its session lives as long as the stream does. */
export function openSse({ content, sessions, baseUrl, keepAliveMs }: SseDeps): RequestHandler {
  return async (_req, res) => {
    const session = await sessions.open(res.locals.caller as Caller, async (id, gone) => {
      const transport = new SSEServerTransport(`${new URL(baseUrl()).pathname.replace(/\/$/, '')}/messages?session=${id}`, res);
      const server = createLegacyServer(content);
      const alive = setInterval(() => {
        if (res.writableLength > mostUnreadBytes) res.destroy();
        else res.write(': keepalive\n\n');
      }, keepAliveMs).unref();
      server.onclose = () => {
        clearInterval(alive);
        gone();
      };
      return { link: transport, end: () => server.close(), begin: () => server.connect(transport) };
    });
    during(session, res, 'stream');
    await session.begin();
  };
}

/** `POST /messages?session=`: the answers come on the stream. */
export function postMessage({ sessions }: SseDeps): RequestHandler {
  return async (req, res) => {
    const { session: id } = req.query;
    if (typeof id !== 'string') throw new AppError('invalid_request', 'session: required; open /sse to get one');
    const caller = res.locals.caller as Caller;
    const session = sessions.use(id, caller);
    carry(req, caller);
    during(session, res, 'call');
    await session.link.handlePostMessage(req, res, req.body);
  };
}
