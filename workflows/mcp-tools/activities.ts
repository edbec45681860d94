import type { McpToolsInput } from './messages.js';

export interface McpToolsActivities {
  /** Reads the definitions of the tools that the connector's MCP server offers. */
  listMcpTools(input: McpToolsInput): Promise<unknown[]>;
}
