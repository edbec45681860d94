import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { legacyTasksOf, modernTasks, type TaskClient } from './mcp-tasks.js';

/** Begins a task, prints its id, and asks for its result until a test kills this process. */
const {
  MCP_URL: url = '',
  API_KEY: apiKey = '',
  GENERATION: generation,
  TOOL: tool = '',
  INPUT: input = '{}',
} = process.env;

async function legacyTasks(): Promise<TaskClient> {
  const client = new Client({ name: 'killed', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
    }),
  );
  return legacyTasksOf(client);
}

const tasks = generation === '2026-07-28' ? await modernTasks(apiKey, url) : await legacyTasks();
const { taskId } = await tasks.begin(tool, JSON.parse(input) as Record<string, unknown>);
process.stdout.write(`${JSON.stringify({ msg: 'begun', taskId })}\n`);
for (;;) {
  await tasks.result(taskId);
  await delay(100);
}
