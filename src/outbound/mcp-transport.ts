import {
  ReadBuffer,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type AuthProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createAnsweredFetch, maxFailedResumes } from './answered-fetch.js';
import type { HttpClient } from './http-client.js';
import { readText, type EventContext } from './mcp-events.js';
import { parseMessage, type McpReader } from './mcp-reader.js';
import { OutboundError } from './outbound-error.js';

/**
 * Returns an access token other than the one that the server refused.
 * @throws OutboundError
 */
export type BearerToken = (refused?: string) => Promise<string>;

/** A server at a URL, with headers or tokens for this URL only, or a command line that runs in a folder of its own. */
export type McpTarget =
  | {
      url: string;
      headers: Record<string, string>;
      bearer?: BearerToken | undefined;
      /** Keeps a scope that the server needs in addition. */
      needScope?: ((scope: string) => Promise<void>) | undefined;
    }
  | { commandLine: readonly string[]; folder: string };

/** The maximum size of a response over HTTP and stdio: one message, or one stream. */
const maxMcpAnswerBytes = 4 * 1024 * 1024;

/**
 * Returns the tokens of a session. The transport repeats a request once after a 401, and the session refreshes its
 * token at most once.
 */
export async function authProviderOf(bearer: BearerToken): Promise<AuthProvider> {
  let token = await bearer();
  let refreshing: Promise<void> | undefined;
  const refresh = async () => {
    token = await bearer(token);
  };
  return { token: async () => token, onUnauthorized: () => (refreshing ??= refresh()) };
}

interface TransportOptions {
  authProvider: AuthProvider | undefined;
  reader: McpReader;
  /** Receives what the library would hide. */
  failed: (error: OutboundError) => void;
  /** Uses HTTP with SSE, the transport of revision 2024-11-05. */
  isSse?: boolean;
}

/** A server can ask for shorter pauses before its stream is resumed, but this is the shortest one. */
const minResumeMs = 500;

/** Connects on first use. */
export function transportTo(
  http: Pick<HttpClient, 'fetchWith'>,
  target: McpTarget,
  { authProvider, reader, failed, isSse = false }: TransportOptions,
): Transport {
  if (!('url' in target)) return processTransport(target, reader, failed);
  const guarded = http.fetchWith({ maxBytes: maxMcpAnswerBytes, failed: () => undefined });
  const options = {
    fetch: createAnsweredFetch(guarded, { reader, failed, hasOneStream: isSse }),
    requestInit: { headers: { ...target.headers, 'accept-encoding': 'identity' } },
    ...(authProvider && { authProvider }),
  };
  if (isSse) return new SSEClientTransport(new URL(target.url), options);
  return new StreamableHTTPClientTransport(new URL(target.url), {
    ...options,
    reconnectionOptions: {
      maxRetries: maxFailedResumes,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
    reconnectionScheduler(reconnect, delayMs) {
      const timer = setTimeout(reconnect, Math.max(delayMs, minResumeMs));
      return () => clearTimeout(timer);
    },
  });
}

function processTransport(
  { commandLine, folder: cwd }: Extract<McpTarget, { folder: string }>,
  reader: McpReader,
  failed: (error: OutboundError) => void,
): Transport {
  const [command = '', ...args] = commandLine;
  // The process inherits only a few harmless environment variables (`getDefaultEnvironment` of the SDK).
  const transport = new StdioClientTransport({ command, args, cwd, env: { HOME: cwd }, stderr: 'ignore' });
  const fail = (error: OutboundError): never => {
    failed(error);
    throw error;
  };
  // The library has no other way to see a message before it is parsed.
  Object.assign(transport, { _readBuffer: new ReadLines({ reader, fail }) });
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    reader.sent({ ...message });
    return send(message);
  };
  return transport;
}

/** Reads the lines of a process. The reader sees each message before the library does. */
class ReadLines extends ReadBuffer {
  private begun: Buffer[] = [];
  private begunBytes = 0;

  constructor(private readonly context: Pick<EventContext, 'reader' | 'fail'>) {
    super({ maxBufferSize: Infinity });
  }

  override append(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.begin(chunk.subarray(from, end));
      const line = Buffer.concat(this.begun).toString('utf8');
      [this.begun, this.begunBytes] = [[], 0];
      const message = readText(this.context, parseMessage(line));
      if (message !== undefined) super.append(Buffer.from(`${message}\n`));
      from = end + 1;
    }
    this.begin(chunk.subarray(from));
  }

  /** @throws OutboundError `too_large` */
  private begin(part: Buffer): void {
    this.begunBytes += part.byteLength;
    if (this.begunBytes > maxMcpAnswerBytes)
      this.context.fail(new OutboundError('too_large', `the answer is larger than ${maxMcpAnswerBytes} bytes`));
    if (part.byteLength > 0) this.begun.push(part);
  }
}
