import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';

const both = 'application/json, text/event-stream';

/** Accepts a client that accepts any media type, although the SDKs require both media types by name. */
export const acceptAnything: RequestHandler = (req, _res, next) => {
  const { accept } = req.headers;
  if (accept === undefined || /(^|,)\s*\*\/\*/.test(accept)) replaceAccept(req);
  next();
};

/** Also replaces `rawHeaders`, which the SDK's adapter reads. */
function replaceAccept(req: IncomingMessage): void {
  req.headers.accept = both;
  const at = req.rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'accept');
  if (at === -1) req.rawHeaders.push('accept', both);
  else req.rawHeaders[at + 1] = both;
}
