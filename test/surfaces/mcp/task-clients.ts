import { legacyTasksOf, modernTasks, type TaskClient } from '../../support/mcp-tasks.js';
import { connect } from './clients.js';

async function legacyTasks(apiKey: string, url?: string): Promise<TaskClient> {
  const { client } = await connect(apiKey, url === undefined ? {} : { url });
  return legacyTasksOf(client);
}

export const generations = [
  ['2025-11-25', legacyTasks],
  ['2026-07-28', modernTasks],
] as const;
