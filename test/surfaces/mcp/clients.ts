import { afterAll } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  type ClientOptions as ModernOptions,
} from '@modelcontextprotocol/client';
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { testRun } from '../../support/run.js';

interface Connected {
  client: Client;
  transport: StreamableHTTPClientTransport;
}

interface ConnectOptions {
  url?: string;
  client?: ClientOptions;
  headers?: Record<string, string>;
  fetch?: typeof fetch;
  transport?: StreamableHTTPClientTransportOptions;
}

const opened: { close(): Promise<void> }[] = [];
const info = { name: 'test', version: '1' };

/** Closes all clients of the file. */
export function useClients(): void {
  afterAll(async () => {
    await Promise.allSettled(opened.map((client) => client.close()));
  });
}

export function bearer(apiKey: string): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}` };
}

/** The SDK's own client over Streamable HTTP, in a session. */
export async function connect(apiKey: string, options: ConnectOptions = {}): Promise<Connected> {
  const client = new Client(info, options.client);
  const headers = { ...bearer(apiKey), ...options.headers };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', options.url ?? testRun().url), {
    requestInit: { headers },
    ...fetchOf(options),
    ...options.transport,
  });
  await client.connect(transport);
  opened.push(client);
  return { client, transport };
}

/** The same over the transport of 2024-11-05. */
export async function connectSse(apiKey: string, options: ConnectOptions = {}): Promise<Client> {
  const client = new Client(info, options.client);
  const headers = { ...bearer(apiKey), ...options.headers };
  await client.connect(
    new SSEClientTransport(new URL('/sse', options.url ?? testRun().url), {
      requestInit: { headers },
      ...fetchOf(options),
    }),
  );
  opened.push(client);
  return client;
}

/** The client of the SDK's second generation, in the stateless revision. */
export async function connectModern(
  apiKey: string,
  options: { url?: string; client?: ModernOptions; fetch?: typeof fetch } = {},
): Promise<ModernClient> {
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options.client });
  await client.connect(
    new ModernTransport(new URL('/mcp', options.url ?? testRun().url), {
      requestInit: { headers: bearer(apiKey) },
      ...fetchOf(options),
    }),
  );
  opened.push(client);
  return client;
}

function fetchOf({ fetch: own }: { fetch?: typeof fetch }) {
  return own ? { fetch: own } : {};
}

/** The JSON that a tool's text carries. */
export function textOf(result: unknown): any {
  const [first] = (result as { content: { text: string }[] }).content;
  return JSON.parse(first?.text ?? '');
}
