import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './ports.js';

export interface SinkRequest {
  method: string;
  path: string;
  key: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface HttpSink {
  url: string;
  requests: SinkRequest[];
  /** The requests with this path prefix, in order of arrival. */
  seen(pathPrefix: string): SinkRequest[];
  /** The number of requests by idempotency key. */
  keys(): Map<string, number>;
  /** Holds requests with this path prefix open until the returned function is called. */
  hold(pathPrefix: string): () => void;
  /** The answer to requests with this path prefix; by default 200 with `{ok: true, path}`. */
  answer(pathPrefix: string, respond: (request: SinkRequest, res: ServerResponse) => void): void;
  close(): Promise<void>;
}

/** A real HTTP server that represents the external services of actions and counts their requests. */
export async function startHttpSink(): Promise<HttpSink> {
  const requests: SinkRequest[] = [];
  const gates = new Map<string, Promise<void>>();
  const answers = new Map<string, (request: SinkRequest, res: ServerResponse) => void>();
  const server = createServer((req, res) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const path = req.url ?? '';
      const key = req.headers['idempotency-key'];
      const request = {
        method: req.method ?? '',
        path,
        key: typeof key === 'string' ? key : undefined,
        headers: req.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      await find(gates, path);
      const respond = find(answers, path);
      if (respond) respond(request, res);
      else res.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, path }));
    })().catch(() => res.destroy());
  });
  const { url, close } = await listen(server);
  return {
    url,
    requests,
    seen: (pathPrefix) => requests.filter(({ path }) => path.startsWith(pathPrefix)),
    keys() {
      const counts = new Map<string, number>();
      for (const { key } of requests) if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
      return counts;
    },
    hold(pathPrefix) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      gates.set(pathPrefix, promise);
      return () => {
        gates.delete(pathPrefix);
        resolve();
      };
    },
    answer: (pathPrefix, respond) => void answers.set(pathPrefix, respond),
    close,
  };
}

function find<T>(entries: Map<string, T>, path: string): T | undefined {
  for (const [prefix, value] of entries) if (path.startsWith(prefix)) return value;
  return undefined;
}
