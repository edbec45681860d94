import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from './deadline.js';
import type { HttpClient } from './http-client.js';
import { isOutboundError, OutboundError } from './outbound-error.js';
import { isTransientStatus } from './retry-hints.js';

/** A server at a URL, with headers for this URL only, or a command line that this process runs. */
export type McpTarget = { url: string; headers: Record<string, string> } | { commandLine: readonly string[] };

export interface McpSession {
  /** All tools of the server. */
  listTools(): Promise<Tool[]>;
  /** Whether the server reported that its tools changed after the last `listTools`. */
  hasChanged(): boolean;
  callTool(name: string, input: Record<string, unknown>, meta: Record<string, unknown>): Promise<CallToolResult>;
}

/** Calls MCP servers that users name, in both eras of the protocol. */
export interface McpClient {
  /**
   * Opens a session, does the work and ends the session.
   * @throws OutboundError `target_refused`, `timeout`, `too_large`, `unreachable`, `action_refused` or
   *   `action_unavailable`; the reason of the signal when it aborts
   */
  use<T>(
    target: McpTarget,
    options: { timeoutMs: number; signal: AbortSignal },
    work: (session: McpSession) => Promise<T>,
  ): Promise<T>;
}

/** The largest answer of a server, over HTTP and stdio: one message, or one stream. */
export const maxMcpAnswerBytes = 4 * 1024 * 1024;
const farewellMs = 1000;
const maxMessageLength = 400;

export function createMcpClient(http: Pick<HttpClient, 'fetchWith'>): McpClient {
  return {
    use: (target, options, work) =>
      withDeadline(options, async (signal) => {
        const failed = new AbortController();
        const transport = transportTo(http, target, (error) => failed.abort(error));
        const within = { signal: AbortSignal.any([signal, failed.signal]), timeout: options.timeoutMs };
        // It offers the server nothing: no roots, no sampling, no elicitation.
        const client = new Client(
          { name: 'governed-context-service', version: '1' },
          { versionNegotiation: { mode: 'auto' } },
        );
        try {
          await client.connect(transport, within);
          return await work(sessionOf(client, within));
        } catch (error) {
          signal.throwIfAborted();
          // Libraries wrap the errors of a fetch.
          throw failed.signal.aborted ? failed.signal.reason : outboundErrorOf(error);
        } finally {
          await Promise.race([close(client, transport), delay(farewellMs, undefined, { ref: false })]);
        }
      }),
  };
}

type Within = { signal: AbortSignal; timeout: number };

function sessionOf(client: Client, within: Within): McpSession {
  let hasChanged = false;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    hasChanged = true;
  });
  return {
    async listTools() {
      hasChanged = false;
      const { tools } = await client.listTools(undefined, { ...within, cacheMode: 'refresh' });
      return tools;
    },
    hasChanged: () => hasChanged,
    callTool: (name, input, meta) => client.callTool({ name, arguments: input, _meta: meta }, within),
  };
}

function transportTo(
  http: Pick<HttpClient, 'fetchWith'>,
  target: McpTarget,
  failed: (error: OutboundError) => void,
): Transport {
  if ('url' in target) {
    return new StreamableHTTPClientTransport(new URL(target.url), {
      fetch: http.fetchWith({ maxBytes: maxMcpAnswerBytes, failed }),
      requestInit: { headers: { ...target.headers, 'accept-encoding': 'identity' } },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
  }
  const [command = '', ...args] = target.commandLine;
  // The process gets a few harmless variables of the environment only (`getDefaultEnvironment` of the SDK).
  return new StdioClientTransport({ command, args, stderr: 'ignore', maxBufferSize: maxMcpAnswerBytes });
}

/** Ends the session of an older server, which would otherwise keep it until it expires. */
async function close(client: Client, transport: Transport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined);
  await client.close().catch(() => undefined);
}

function outboundErrorOf(error: unknown): unknown {
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const message = `the MCP server answered with status ${status}`;
    return new OutboundError(isTransientStatus(status) ? 'action_unavailable' : 'action_refused', message, { status });
  }
  if (error instanceof ProtocolError)
    return new OutboundError('action_refused', `the MCP server refused: ${error.message.slice(0, maxMessageLength)}`);
  if (error instanceof SdkError) return sdkErrorOf(error);
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return new OutboundError('action_refused', 'the command of the MCP server does not exist on the worker');
  if (isOutboundError(error) || !(error instanceof Error) || !isAnswerProblem(error)) return error;
  return new OutboundError('action_refused', 'the MCP server answered with something that is not MCP');
}

function isAnswerProblem({ name }: Error): boolean {
  return name === 'ZodError' || name === '$ZodError' || name === 'SyntaxError';
}

function sdkErrorOf({ code, message }: SdkError): OutboundError {
  if (code === SdkErrorCode.RequestTimeout)
    return new OutboundError('timeout', 'the MCP server did not answer in time');
  if (code === SdkErrorCode.ConnectionClosed || code === SdkErrorCode.SendFailed)
    return new OutboundError('unreachable', 'the MCP server closed the connection');
  // What follows the first line is the validator's own JSON.
  const [problem = ''] = message.split('\n');
  return new OutboundError('action_refused', `the MCP server cannot be used: ${problem.slice(0, maxMessageLength)}`);
}
