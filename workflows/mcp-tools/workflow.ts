import { ApplicationFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import type { McpToolsActivities } from './activities.js';
import type { McpToolsInput } from './messages.js';

const { listMcpTools } = proxyActivities<McpToolsActivities>({
  startToCloseTimeout: '40s',
  heartbeatTimeout: '15s',
  // A person waits for the answer, and can ask again.
  retry: { maximumAttempts: 1 },
  summary: 'read the tools of the MCP server',
});

/** Reads the tools of an MCP server for a person, on a worker. */
export async function mcpTools(input: McpToolsInput): Promise<unknown[]> {
  try {
    return await listMcpTools(input);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error, 'unavailable');
    throw ApplicationFailure.nonRetryable(message, type);
  }
}
