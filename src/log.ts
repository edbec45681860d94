import type { IncomingMessage, ServerResponse } from 'node:http';
import { pino, type DestinationStream, type Logger } from 'pino';
import { traceLogFields } from './observability/tracing.js';

export type { Logger } from 'pino';

/** Fields of log lines that can contain a secret. pino redacts them. */
const secretPaths = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-api-key"]',
  'req.headers["x-server-key"]',
  'req.headers["x-resume-token"]',
  'res.headers["set-cookie"]',
  // An OAuth redirect contains the authorization code.
  'res.headers.location',
  ...['password', 'secret', 'token', 'apiKey', 'api_key', 'refresh_token', 'access_token'].flatMap((name) => [
    name,
    `*.${name}`,
  ]),
];

const flushMs = 50;

/** Removes the query, and the pins, trigger ids and secrets of paths, which must not be logged. */
function loggedUrl(url: string): string {
  return url
    .replace(/[?#].*$/s, '')
    .replace(/(\/notify\/[^/]+\/).+$/s, '$1[pin]')
    .replace(/^(.*\/(?:voice|media)-provider\/).+$/s, '$1[trigger]')
    .replace(/^(.*\/resume\/).+$/s, '$1[address]');
}

/** Selects the logged parts of a request and its response. Omits headers, because they can contain secrets. */
const serializers = {
  req: ({ id, method, url = '', originalUrl = url, socket }: IncomingMessage & { originalUrl?: string }) => ({
    id,
    method,
    url: loggedUrl(originalUrl),
    remoteAddress: socket.remoteAddress,
  }),
  res: ({ statusCode }: ServerResponse) => ({ statusCode }),
  // The name that Temporal's SDK uses for what pino calls `err`.
  error: pino.stdSerializers.err,
};

/** Creates a logger. The exit of the process writes the remaining lines. Only a killed process loses its last lines. */
export function createLogger(options: { level: string; name: string }): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: { paths: secretPaths, censor: '[redacted]' },
      serializers,
      mixin: traceLogFields,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    groupedLines(),
  );
}

/** The types of pino omit this field. A flush fails after the end. */
type Destination = ReturnType<typeof pino.destination> & { destroyed?: boolean };

/**
 * Writes lines together, after `flushMs` or when they fill a few pages, because each write takes as much processor time
 * as formatting a line. The `periodicFlush` of pino also writes if there are no lines, 20 times a second.
 */
function groupedLines(): DestinationStream & { flushSync(): void } {
  const lines: Destination = pino.destination({ sync: false, minLength: 8192 });
  let isDue = false;
  let hasMore = false;
  const flushSoon = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      if (!lines.destroyed) lines.flush();
    }, flushMs).unref();
  };
  // A flush during a write has no effect.
  lines.on('drain', () => {
    if (hasMore) flushSoon();
    hasMore = false;
  });
  return {
    write(line) {
      hasMore = true;
      lines.write(line);
      flushSoon();
    },
    flushSync: () => lines.flushSync(),
  };
}
