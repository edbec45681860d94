import { specTypeSchemas, type Client, type Progress } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { withDeadline, type Clock } from './deadline.js';
import type { HttpClient } from './http-client.js';
import type { McpCallResult } from './mcp-call-result.js';
import {
  close,
  errorOf,
  farewellMs,
  keepScope,
  linkTo,
  type Link,
  type McpSessionOptions,
  type Within,
} from './mcp-link.js';
import { withLinkedResources } from './mcp-linked-resources.js';
import type { ListedTool } from './mcp-listed-tool.js';
import { OutboundError } from './outbound-error.js';
import type { McpOutput } from './mcp-output.js';
import { authProviderOf, type McpTarget } from './mcp-transport.js';
import { createTurns, shareOf } from '../base/turns.js';

interface McpCallOptions {
  meta: Record<string, unknown>;
  /** Receives the progress that the server reports. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export type McpSession = ReturnType<typeof sessionOf>;

/** The maximum number of MCP servers that run as processes at once. */
const maxProcesses = 30;
/**
 * Returns why a value does not match the output schema of its tool, or why it could not be checked within the limits.
 * Returns undefined also if no thread is free for the check: this is not the server's fault.
 */
export type OutputCheck = (output: McpOutput, options: { owner: string }) => Promise<string | undefined>;

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
    return withDeadline(options, async (signal, clock) => {
      const authProvider = 'url' in target && target.bearer ? await authProviderOf(target.bearer) : undefined;
      const link = await linkTo(target, { http, authProvider, options, clock, signal });
      try {
        const problemOf: ProblemOf = (output) => problemOfOutput(output, { owner: options.owner });
        return await work(sessionOf(link, problemOf, clock));
      } catch (error) {
        await keepScope(target, error);
        throw errorOf(link, error, signal, options);
      } finally {
        await close(link);
      }
    });
  }
}

type ProblemOf = (output: McpOutput) => Promise<string | undefined>;

function sessionOf(link: Link, problemOf: ProblemOf, clock: Clock) {
  const { client, reader, within } = link;
  let hasChanged = false;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    hasChanged = true;
  });
  /** Checks in a thread. The deadline does not count this time, which is not the server's. */
  const check = async (output: McpOutput): Promise<void> => {
    clock.stop();
    const problem = await problemOf(output).finally(() => clock.start());
    if (problem !== undefined) throw new OutboundError('action_refused', `the MCP server cannot be used: ${problem}`);
  };
  return {
    /** Lists all tools, also those that cannot be used, with their problems. */
    async listTools(): Promise<ListedTool[]> {
      hasChanged = false;
      reader.beginList();
      const { tools } = await client.listTools(undefined, { ...within, cacheMode: 'refresh' });
      const usable = new Set(tools.map(({ name }) => name));
      return reader
        .tools()
        .map((tool) => (tool.problems || usable.has(tool.name) ? tool : { ...tool, problems: [unusableHeaders] }));
    },
    /** Returns whether the server reported that its tools changed after the last `listTools`. */
    hasChanged: () => hasChanged,
    async callTool(
      name: string,
      input: Record<string, unknown>,
      { meta, onProgress }: McpCallOptions,
    ): Promise<McpCallResult> {
      const params = { name, arguments: input, _meta: meta };
      const options = { ...within, ...(onProgress && { onprogress: onProgress }) };
      const { outputSchema: schema, execution } = reader.tools().find((tool) => tool.name === name) ?? {};
      if (schema) await check({ schema });
      await (execution?.taskSupport === 'required'
        ? callAsTask(client, params, options)
        : client.callTool(params, options));
      const result = reader.result() ?? { content: [] };
      if (result.isError === true) return result;
      if (schema) {
        const value = reader.structureToCheck();
        if (value === undefined) throw new OutboundError('action_refused', withoutStructure);
        await check({ schema, value });
      }
      return await withLinkedResources(link, clock, result);
    },
  };
}

const unusableHeaders =
  'inputSchema: names arguments to be sent as headers (x-mcp-header) in a way that is not allowed';
const withoutStructure =
  'the MCP server cannot be used: the tool has an output schema, but its result has no structured content';

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
): Promise<void> {
  const request = { method: 'tools/call', params: { ...params, task: { ttl: taskTtlMs } } };
  const { taskId } = (await client.request(request, TaskCreated, options)).task;
  const { signal, timeout } = options;
  try {
    const result = { method: 'tasks/result', params: { taskId } };
    await client.request(result, specTypeSchemas.CallToolResult, { signal, timeout });
  } catch (error) {
    const cancel = { method: 'tasks/cancel', params: { taskId } };
    if (signal.aborted) await client.request(cancel, z.unknown(), { timeout: farewellMs }).catch(() => undefined);
    throw error;
  }
}
