import {
  Client,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  specTypeSchemas,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ElicitResult,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Progress,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { abortWith } from '../abort-with.js';
import { orAborted, withDeadline, type Clock } from './deadline.js';
import { hideSecrets } from './hide-secrets.js';
import type { HttpClient } from './http-client.js';
import { isOutboundError, OutboundError } from './outbound-error.js';
import { createExactResults, type ExactResults } from './mcp-exact-results.js';
import type { McpOutput } from './mcp-output.js';
import { authProviderOf, transportTo, type McpTarget } from './mcp-transport.js';
import { isTransientStatus } from './retry-hints.js';
import { createTurns, shareOf } from '../turns.js';

interface McpCallOptions {
  meta: Record<string, unknown>;
  /** Receives the progress that the server reports. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export type McpSession = ReturnType<typeof sessionOf>;

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

const farewellMs = 1000;
const probeMs = 10_000;
/** Exceeds the duration of any call. */
const longestMs = 24 * 3600 * 1000;
const maxMessageLength = 400;

/** The maximum number of MCP servers that run as processes at once. */
const maxProcesses = 30;
/** Limits one check in a thread. */
const checkMs = 5000;
/** Skips the library's checks, which would run on the event loop. */
const unchecked: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

/** Returns why a value does not match the output schema of its tool. Rejects after the time limit. */
export type OutputCheck = (
  output: McpOutput,
  options: { owner: string; timeoutMs: number },
) => Promise<string | undefined>;

export type McpClient = ReturnType<typeof createMcpClient>;

/** Calls MCP servers that users specify, in both eras of the protocol. */
export function createMcpClient(http: Pick<HttpClient, 'fetchWith'>, problemOfOutput: OutputCheck) {
  const processes = createTurns({
    ...{ what: 'processes of MCP servers', whose: 'the organization' },
    ...{ maxRunning: shareOf(maxProcesses), maxTotal: maxProcesses },
    ...{ maxWaiting: 100, waitTimeoutMs: 10_000 },
  });
  return {
    /**
     * Opens a session, runs the work and ends the session.
     * @throws OutboundError `target_refused`, `timeout`, `too_large`, `unreachable`, `action_refused` or
     * `action_unavailable`; the signal's reason when it aborts
     */
    use<T>(target: McpTarget, options: McpSessionOptions, work: (session: McpSession) => Promise<T>): Promise<T> {
      const { owner, timeoutMs, signal } = options;
      if ('url' in target) return inSession(target, options, work);
      const waitTimeoutMs = timeoutMs / 3;
      return processes.take(owner, () => inSession(target, options, work), { signal, waitTimeoutMs });
    },
  };

  async function inSession<T>(
    target: McpTarget,
    options: McpSessionOptions,
    work: (session: McpSession) => Promise<T>,
  ): Promise<T> {
    const problemOf: ProblemOf = (output) => problemOfOutput(output, { owner: options.owner, timeoutMs: checkMs });
    return withDeadline(options, async (signal, clock) => {
      const failed = new AbortController();
      const authProvider = 'url' in target && target.bearer ? await authProviderOf(target.bearer) : undefined;
      const exactResults = createExactResults();
      const transport = transportTo(http, target, authProvider, {
        failed: (error) => failed.abort(error),
        onMessage: exactResults.read,
      });
      // The deadline ends the session, not the library's own limit.
      const within = { signal: abortWith(signal, failed.signal).signal, timeout: longestMs };
      // The client offers no roots and no sampling. It always declares support for forms, so that a server lists the
      // same tools when it is inspected as when it is called.
      const client = new Client(
        { name: 'governed-context-service', version: '1' },
        {
          // A server of an earlier revision may ignore the question for its version until it is initialized.
          versionNegotiation: { mode: 'auto', probe: 'url' in target ? {} : { timeoutMs: probeMs } },
          capabilities: { elicitation: { form: {} } },
          jsonSchemaValidator: unchecked,
        },
      );
      answerQuestions(client, options, clock, within.signal);
      try {
        // The library ignores the signal while it asks for the version.
        await orAborted(within.signal, client.connect(transport, within));
        return await work(sessionOf(client, { problemOf, exactResults }, within));
      } catch (error) {
        signal.throwIfAborted();
        // Libraries wrap the errors of `fetch`, so throw the original one.
        throw failed.signal.aborted ? failed.signal.reason : outboundErrorOf(error, options.secrets);
      } finally {
        await Promise.race([close(client, transport), delay(farewellMs, undefined, { ref: false })]);
      }
    });
  }
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

type Within = { signal: AbortSignal; timeout: number };

type ProblemOf = (output: McpOutput) => Promise<string | undefined>;

function sessionOf(
  client: Client,
  { problemOf, exactResults }: { problemOf: ProblemOf; exactResults: ExactResults },
  within: Within,
) {
  let hasChanged = false;
  let onlyAsTask: ReadonlySet<string> = new Set();
  let outputs: ReadonlyMap<string, Tool['outputSchema']> = new Map();
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    hasChanged = true;
  });
  return {
    async listTools(): Promise<Tool[]> {
      hasChanged = false;
      const { tools } = await client.listTools(undefined, { ...within, cacheMode: 'refresh' });
      onlyAsTask = new Set(tools.flatMap(({ name, execution }) => (execution?.taskSupport === 'required' ? name : [])));
      outputs = new Map(tools.map(({ name, outputSchema }) => [name, outputSchema]));
      return tools;
    },
    /** Returns whether the server reported that its tools changed after the last `listTools`. */
    hasChanged: () => hasChanged,
    async callTool(
      name: string,
      input: Record<string, unknown>,
      { meta, onProgress }: McpCallOptions,
    ): Promise<CallToolResult> {
      const params = { name, arguments: input, _meta: meta };
      const options = { ...within, ...(onProgress && { onprogress: onProgress }) };
      const schema = outputs.get(name);
      if (schema) await checkOutput(problemOf, { schema });
      const result = await (onlyAsTask.has(name)
        ? callAsTask(client, params, options)
        : client.callTool(params, options));
      const { structuredContent: value, isError } = result;
      if (schema && value !== undefined && isError !== true) await checkOutput(problemOf, { schema, value });
      return value === undefined
        ? result
        : { ...result, structuredContent: exactResults.exactly(value) as typeof value };
    },
  };
}

/** @throws OutboundError `action_refused`, also if the check takes too long or too much memory */
async function checkOutput(problemOf: ProblemOf, output: McpOutput): Promise<void> {
  const problem = await problemOf(output).catch(
    () => `the structured content could not be checked against the output schema within ${checkMs / 1000} s`,
  );
  if (problem !== undefined) throw new OutboundError('action_refused', `the MCP server cannot be used: ${problem}`);
}

const TaskCreated = z.object({ task: z.object({ taskId: z.string() }) });
/** The requested lifetime of a task, which the server may change. */
const taskTtlMs = 3600 * 1000;

/**
 * Calls a tool that must run as a task (revision 2025-11-25). The library supports the messages, but not their order:
 * the server responds to the request for the result when the task has ended, and meanwhile uses that request to ask the
 * client.
 */
async function callAsTask(
  client: Client,
  params: { name: string; arguments: Record<string, unknown>; _meta: Record<string, unknown> },
  options: Within,
): Promise<CallToolResult> {
  const request = { method: 'tools/call', params: { ...params, task: { ttl: taskTtlMs } } };
  const { taskId } = (await client.request(request, TaskCreated, options)).task;
  const { signal, timeout } = options;
  try {
    const result = { method: 'tasks/result', params: { taskId } };
    return await client.request(result, specTypeSchemas.CallToolResult, { signal, timeout });
  } catch (error) {
    const cancel = { method: 'tasks/cancel', params: { taskId } };
    if (signal.aborted) await client.request(cancel, z.unknown(), { timeout: farewellMs }).catch(() => undefined);
    throw error;
  }
}

/** Ends the session of an older server, which would otherwise keep it until it expires. */
async function close(client: Client, transport: Transport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined);
  // A client without a transport has not connected yet.
  await (client.transport ? client : transport).close().catch(() => undefined);
}

function outboundErrorOf(error: unknown, secrets: readonly string[]): unknown {
  const excerpt = (text: string) => String(hideSecrets(text, secrets)).slice(0, maxMessageLength);
  if (error instanceof InsufficientScopeError) {
    const scope = JSON.stringify(excerpt(error.requiredScope ?? ''));
    const message = `the MCP server asks for the scope ${scope}: authorize it again`;
    return new OutboundError('authorization_needed', message, { status: 403 });
  }
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const message = `the MCP server answered with status ${status}`;
    return new OutboundError(isTransientStatus(status) ? 'action_unavailable' : 'action_refused', message, { status });
  }
  if (error instanceof ProtocolError)
    return new OutboundError('action_refused', `the MCP server refused: ${excerpt(error.message)}`);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout)
      return new OutboundError('timeout', 'the MCP server did not answer in time');
    if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed)
      return new OutboundError('unreachable', 'the MCP server closed the connection');
    // The lines after the first one contain the validator's own JSON.
    const [problem = ''] = error.message.split('\n');
    return new OutboundError('action_refused', `the MCP server cannot be used: ${excerpt(problem)}`);
  }
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return new OutboundError('action_refused', 'the command of the MCP server does not exist on the worker');
  if (isOutboundError(error) || !(error instanceof Error) || !isAnswerProblem(error)) return error;
  return new OutboundError('action_refused', 'the MCP server answered with something that is not MCP');
}

function isAnswerProblem({ name }: Error): boolean {
  return name === 'ZodError' || name === '$ZodError' || name === 'SyntaxError';
}
