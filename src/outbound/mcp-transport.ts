import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type AuthProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createAnsweredFetch, maxFailedResumes } from './answered-fetch.js';
import type { HttpClient } from './http-client.js';
import type { McpReader } from './mcp-reader.js';
import { isOutboundError, OutboundError } from './outbound-error.js';

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
  const transport = new StdioClientTransport({
    ...{ command, args, cwd, env: { HOME: cwd }, stderr: 'ignore', maxBufferSize: maxMcpAnswerBytes },
  });
  transport.onerror = ({ message }) => {
    // The library then ends the process, as if the server had closed the connection.
    if (message.startsWith('ReadBuffer exceeded'))
      failed(new OutboundError('too_large', `the answer is larger than ${maxMcpAnswerBytes} bytes`));
  };
  return readThrough(transport, reader, failed);
}

/**
 * Lets the reader see each message. The library calls a handler that is there before it connects first, with the same
 * object. A class of its own would not do, because the library starts a process twice only for its own class.
 */
function readThrough(
  transport: StdioClientTransport,
  reader: McpReader,
  failed: (error: OutboundError) => void,
): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    reader.sent({ ...message });
    return send(message);
  };
  transport.onmessage = (message) => {
    try {
      const read = reader.received(message, JSON.stringify(message).length);
      for (const name of Object.keys(message)) Reflect.deleteProperty(message, name);
      Object.assign(message, read);
    } catch (error) {
      failed(
        isOutboundError(error)
          ? error
          : new OutboundError('action_refused', 'the MCP server answered with something that is not MCP'),
      );
    }
  };
  return transport;
}
