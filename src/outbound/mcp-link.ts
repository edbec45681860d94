import {
  Client,
  InsufficientScopeError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type ElicitResult,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Transport,
} from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import { abortWith } from '../base/async.js';
import { orAborted, type Clock } from './deadline.js';
import type { HttpClient } from './http-client.js';
import { connectProblemOf, outboundErrorOf } from './mcp-client-errors.js';
import { createMcpReader, type McpReader } from './mcp-reader.js';
import { transportTo, type authProviderOf, type McpTarget } from './mcp-transport.js';

/** A form that the server asks a person to fill in. The schema is not checked. */
export interface ElicitationQuestion {
  message: string;
  schema: unknown;
}

export type ElicitationAnswer = Pick<ElicitResult, 'action' | 'content'>;

export interface McpSessionOptions {
  /** The organization that calls. It shares threads and processes with others. */
  owner: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** What errors must not show, because the server may repeat it. Tokens are added when they are used. */
  secrets: readonly string[];
  /**
   * Asks a person on behalf of the server. Without it, the server gets `cancel`. The time of the person does not count.
   */
  ask?: ((question: ElicitationQuestion, signal: AbortSignal) => Promise<ElicitationAnswer>) | undefined;
}

/** The longest wait for the end of a session. */
export const farewellMs = 1000;
const probeMs = 10_000;
/** Exceeds the duration of any call. */
const longestMs = 24 * 3600 * 1000;
/** Skips the library's checks, which would run on the event loop. */
const unchecked: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

export type Within = { signal: AbortSignal; timeout: number };

/** A connection to a server, and what ends it. */
export interface Link {
  client: Client;
  transport: Transport;
  reader: McpReader;
  failed: AbortController;
  within: Within;
}

interface LinkOptions {
  http: Pick<HttpClient, 'fetchWith'>;
  authProvider: Awaited<ReturnType<typeof authProviderOf>> | undefined;
  options: McpSessionOptions;
  clock: Clock;
  signal: AbortSignal;
}

/** How a server is spoken to. `older` does not ask for the version first; `sse` is the transport of 2024-11-05. */
type Manner = 'newest' | 'older' | 'sse';

/** Connects in the newest manner that the server knows. The error of a server that knows none is that of the first attempt. */
export async function linkTo(target: McpTarget, options: LinkOptions): Promise<Link> {
  let first: unknown;
  for (let manner: Manner | undefined = 'newest'; manner !== undefined;) {
    const link = openLink(target, manner, options);
    try {
      // The library ignores the signal while it asks for the version.
      await orAborted(link.within.signal, link.client.connect(link.transport, link.within));
      return link;
    } catch (error) {
      await close(link);
      await keepScope(target, error);
      first ??= errorOf(link, connectProblemOf(error), options.signal, options.options);
      options.signal.throwIfAborted();
      manner = 'url' in target ? nextManner(manner, error) : undefined;
    }
  }
  throw first;
}

/** The statuses with which an older server refuses the newer transport (MCP, Transports, Backwards Compatibility). */
const sseStatuses: ReadonlySet<number> = new Set([400, 404, 405]);

function nextManner(manner: Manner, error: unknown): Manner | undefined {
  if (manner === 'sse' || !(error instanceof SdkHttpError)) return undefined;
  if (sseStatuses.has(error.status)) return 'sse';
  // A server that fails at an unknown method may still know `initialize`.
  return manner === 'newest' && error.status === 500 ? 'older' : undefined;
}

function openLink(
  target: McpTarget,
  manner: Manner,
  { http, authProvider, options, clock, signal }: LinkOptions,
): Link {
  const failed = new AbortController();
  const reader = createMcpReader();
  const transport = transportTo(http, target, {
    ...{ authProvider, reader, failed: (error) => failed.abort(error), isSse: manner === 'sse' },
  });
  // The deadline ends the session, not the library's own limit.
  const within = { signal: abortWith(signal, failed.signal).signal, timeout: longestMs };
  // The client offers no roots and no sampling. It always declares support for forms, so that a server lists the
  // same tools when it is inspected as when it is called.
  const client = new Client(
    { name: 'governed-context-service', version: '1' },
    {
      // A server of an earlier revision may ignore the question for its version until it is initialized.
      versionNegotiation: {
        mode: manner === 'newest' ? 'auto' : 'legacy',
        probe: 'url' in target ? {} : { timeoutMs: probeMs },
      },
      capabilities: { elicitation: { form: {} } },
      jsonSchemaValidator: unchecked,
    },
  );
  answerQuestions(client, options, clock, within.signal);
  return { client, transport, reader, failed, within };
}

/** Without the scope, the person would authorize the server again with the same scopes. */
export async function keepScope(target: McpTarget, error: unknown): Promise<void> {
  if (error instanceof InsufficientScopeError && 'url' in target && error.requiredScope !== undefined)
    await target.needScope?.(error.requiredScope).catch(() => undefined);
}

/** The library wraps the errors of `fetch`, so the original one comes first. */
export function errorOf(
  { failed }: Link,
  error: unknown,
  signal: AbortSignal,
  { secrets }: Pick<McpSessionOptions, 'secrets'>,
): unknown {
  signal.throwIfAborted();
  return failed.signal.aborted ? failed.signal.reason : outboundErrorOf(error, secrets);
}

function answerQuestions(client: Client, { ask }: McpSessionOptions, clock: Clock, signal: AbortSignal): void {
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    if (!ask || !('requestedSchema' in params)) return { action: 'cancel' };
    const { message, requestedSchema: schema } = params;
    clock.stop();
    try {
      return { ...(await ask({ message, schema }, abortWith(signal, mcpReq.signal).signal)) };
    } finally {
      clock.start();
    }
  });
}

/** Ends the session of an older server, which would otherwise keep it until it expires. */
export async function close({ client, transport }: Link): Promise<void> {
  const ended = async () => {
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined);
    // A client without a transport has not connected yet.
    await (client.transport ? client : transport).close().catch(() => undefined);
  };
  await Promise.race([ended(), delay(farewellMs, undefined, { ref: false })]);
}
