import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { listen } from '../../support/ports.js';

export const secrets = { codesync: 'codesync secret', catalog: 'catalog secret', serverKey: 'a server key' };

export function hmac(secret: string, body: string | Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

interface Forwarded {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Upstream {
  url: string;
  received: Forwarded[];
  /** The answer to every later request; by default 202 with `{status: 'accepted'}`. */
  answer(respond: (request: Forwarded, res: ServerResponse) => void): void;
  reset(): void;
  close(): Promise<void>;
}

/** Represents the downstream service and records exactly what it receives. */
export async function startUpstream(): Promise<Upstream> {
  const received: Forwarded[] = [];
  const usual = (_request: Forwarded, res: ServerResponse) =>
    void res.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"accepted"}');
  let respond: (request: Forwarded, res: ServerResponse) => void = usual;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request = {
        method: req.method ?? '',
        target: req.url ?? '',
        headers: req.headers,
        body: Buffer.concat(chunks),
      };
      received.push(request);
      respond(request, res);
    });
  });
  const { url, close } = await listen(server);
  return {
    url,
    received,
    answer: (next) => void (respond = next),
    reset: () => {
      respond = usual;
      received.length = 0;
    },
    close,
  };
}

/** Sends bytes unchanged and returns the response until the server closes or stops sending. */
export function rawExchange(
  port: number,
  bytes: string | Buffer,
  options: { end?: boolean; quietMs?: number } = {},
): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes);
      if (options.end) socket.end();
    });
    socket.setTimeout(options.quietMs ?? 30_000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

export function statusIn(rawAnswer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(rawAnswer)?.[1] ?? 0);
}
