/** What the API uses to start an `mcpTools`. Only workers reach MCP servers. */
export const mcpToolsType = 'mcpTools';

export interface McpToolsInput {
  connector_id: string;
  project_id: string;
  /** The person whose token is used. */
  user_id: string;
}
