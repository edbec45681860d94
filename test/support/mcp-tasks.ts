import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CallToolResultSchema,
  CancelTaskResultSchema,
  CreateTaskResultSchema,
  GetTaskResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { apiClient } from './client.js';
import { testRun } from './run.js';

/** The requests about tasks that both protocol generations have. */
export interface TaskClient {
  /** Calls a tool as a task and returns the task. */
  begin(name: string, input: Record<string, unknown>): Promise<any>;
  get(taskId: string): Promise<any>;
  /** The tool result of a task that has ended. */
  result(taskId: string): Promise<any>;
  cancel(taskId: string): Promise<any>;
}

/** 2025-11-25 */
export function legacyTasksOf(client: Client): TaskClient {
  return {
    begin: async (name, input) =>
      (
        await client.request(
          { method: 'tools/call', params: { name, arguments: input, task: {} } },
          CreateTaskResultSchema,
        )
      ).task,
    get: (taskId) => client.request({ method: 'tasks/get', params: { taskId } }, GetTaskResultSchema),
    result: (taskId) => client.request({ method: 'tasks/result', params: { taskId } }, CallToolResultSchema),
    cancel: (taskId) => client.request({ method: 'tasks/cancel', params: { taskId } }, CancelTaskResultSchema),
  };
}

const tasksExtension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** A 2026-07-28 request without the SDK, whose client does not accept a task as the answer to a call. */
export async function modernRequest(
  apiKey: string,
  method: string,
  params: Record<string, any>,
  capabilities: object = tasksExtension,
  url = testRun().url,
): Promise<any> {
  const name = (params.name ?? params.taskId) as string | undefined;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const { body } = await apiClient(url, headers).post('/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { ...params, _meta },
  });
  if (body.error) throw Object.assign(new Error(body.error.message), { code: body.error.code, data: body.error.data });
  return body.result;
}

/** 2026-07-28 with the Tasks extension (SEP-2663). */
export async function modernTasks(apiKey: string, url?: string): Promise<TaskClient> {
  const ask = (method: string, params: Record<string, any>) =>
    modernRequest(apiKey, method, params, tasksExtension, url);
  return {
    begin: (name, input) => ask('tools/call', { name, arguments: input }),
    get: (taskId) => ask('tasks/get', { taskId }),
    result: async (taskId) => (await ask('tasks/get', { taskId })).result,
    cancel: (taskId) => ask('tasks/cancel', { taskId }),
  };
}
