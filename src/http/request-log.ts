import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../log.js';

declare module 'node:http' {
  interface IncomingMessage {
    /** The id of the request in the logs of the client and of this service. */
    id: string;
    /** Adds the request to each line as `req`. */
    log: Logger;
  }
}

type Middleware = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** Gives every request an id and a log, and logs each one that `isLogged` when its response has ended. */
export function requestLog(log: Logger, isLogged: (req: IncomingMessage) => boolean = () => true): Middleware {
  // The serializer selects the fields of these lines, so there is nothing to redact.
  const lines = log.child({}, { redact: [] });
  return (req, res, next) => {
    req.id = requestId(req);
    req.log = log;
    res.setHeader('X-Request-Id', req.id);
    if (isLogged(req)) logEnd(lines, req, res);
    next();
  };
}

function logEnd(lines: Logger, req: IncomingMessage, res: ServerResponse): void {
  const began = Date.now();
  res.once('close', () => {
    const line = { req, res, responseTime: Date.now() - began };
    lines.info(line, res.writableFinished ? 'request completed' : 'request aborted');
  });
}

/** Returns the caller's request id if it is safe to log, otherwise a new one. */
function requestId({ headers }: IncomingMessage): string {
  const id = headers['x-request-id'];
  return typeof id === 'string' && /^[\w.:-]{1,100}$/.test(id) ? id : randomUUID();
}
