import { StreamableHTTPClientTransport, type AuthProvider, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createAnsweredFetch } from './answered-fetch.js';
import type { HttpClient } from './http-client.js';
import { ExactReadBuffer } from './mcp-exact-results.js';
import { OutboundError } from './outbound-error.js';

/**
 * Returns an access token other than the one that the server refused.
 * @throws OutboundError
 */
export type BearerToken = (refused?: string) => Promise<string>;

/** A server at a URL, with headers or tokens for this URL only, or a command line that runs in a folder of its own. */
export type McpTarget =
  | { url: string; headers: Record<string, string>; bearer?: BearerToken | undefined }
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

/**
 * Connects on first use. `failed` receives what the library would hide, and `onMessage` the messages as the server sent them.
 */
export function transportTo(
  http: Pick<HttpClient, 'fetchWith'>,
  target: McpTarget,
  authProvider: AuthProvider | undefined,
  { failed, onMessage }: { failed(error: OutboundError): void; onMessage(text: string): void },
): Transport {
  if ('url' in target) {
    return new StreamableHTTPClientTransport(new URL(target.url), {
      fetch: createAnsweredFetch(http.fetchWith({ maxBytes: maxMcpAnswerBytes, failed }), { failed, onMessage }),
      requestInit: { headers: { ...target.headers, 'accept-encoding': 'identity' } },
      ...(authProvider && { authProvider }),
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
  }
  const [command = '', ...args] = target.commandLine;
  // The process inherits only a few harmless environment variables (`getDefaultEnvironment` of the SDK).
  const { folder: cwd } = target;
  const transport = new StdioClientTransport({
    ...{ command, args, cwd, env: { HOME: cwd }, stderr: 'ignore', maxBufferSize: maxMcpAnswerBytes },
  });
  // The library has no other way to see a message before it is parsed.
  Object.assign(transport, { _readBuffer: new ExactReadBuffer(maxMcpAnswerBytes, onMessage) });
  transport.onerror = ({ message }) => {
    // The library then ends the process, as if the server had closed the connection.
    if (message.startsWith('ReadBuffer exceeded'))
      failed(new OutboundError('too_large', `the answer is larger than ${maxMcpAnswerBytes} bytes`));
  };
  return transport;
}
