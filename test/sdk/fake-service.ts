import { createClient, type Client, type ClientOptions, type ServiceError } from '../../sdk/node/src/index.js';
import { startHttpSink, type SinkRequest } from '../support/http-sink.js';

interface FakeAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A scripted server, which repeats its last answer and records the requests and waits of a client. */
export interface FakeService {
  url: string;
  /** The API address in connection info. The default is `<url>/v1`. */
  apiBaseUrl: string | undefined;
  /** The calls, except those for connection info. */
  asked: SinkRequest[];
  infoPaths: string[];
  waits: number[];
  answer(...answers: FakeAnswer[]): void;
  client(options?: ClientOptions): Client;
  close(): Promise<void>;
}

export async function startFakeService(): Promise<FakeService> {
  const sink = await startHttpSink();
  let answers: FakeAnswer[] = [];
  const service: FakeService = {
    url: sink.url,
    apiBaseUrl: undefined,
    asked: [],
    infoPaths: [],
    waits: [],
    answer(...next) {
      answers = next;
      service.apiBaseUrl = undefined;
      for (const list of [service.asked, service.infoPaths, service.waits]) list.length = 0;
    },
    client: (options = {}) =>
      createClient({
        workspace: `${sink.url}/ws_p1`,
        apiKey: 'svc_sk_test',
        random: () => 0.5,
        sleep: async (seconds) => void service.waits.push(seconds),
        ...options,
      }),
    close: () => sink.close(),
  };
  const next = (request: SinkRequest): FakeAnswer => {
    if (request.path.endsWith('/v1/connection-info')) {
      service.infoPaths.push(request.path);
      return {
        status: 200,
        body: { apiBaseUrl: service.apiBaseUrl ?? `${sink.url}/v1`, workspaceHeader: 'X-Fake-Workspace' },
      };
    }
    service.asked.push(request);
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500 };
  };
  sink.answer('/', (request, res) => {
    const { status, body = {}, headers = {} } = next(request);
    res.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return service;
}

/** The rejection of a call that must fail. */
export async function refusalOf(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error('the call was not refused');
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
