import { pino, type Logger } from 'pino';
import { traceOfLine } from './observability/tracing.js';

export type { Logger } from 'pino';

/** Places where a secret can stand in what is logged; pino cuts them before the line is written. */
const secretPaths = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-api-key"]',
  'req.headers["x-server-key"]',
  'req.headers["x-resume-token"]',
  'res.headers["set-cookie"]',
  // An OAuth redirect carries the code.
  'res.headers.location',
  ...['password', 'secret', 'token', 'apiKey', 'api_key', 'refresh_token', 'access_token'].flatMap((name) => [name, `*.${name}`]),
];

export function createLogger(options: { level: string; name: string }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    redact: { paths: secretPaths, censor: '[redacted]' },
    mixin: traceOfLine,
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}
