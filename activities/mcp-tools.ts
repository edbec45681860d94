import { listLiveTools } from '../src/domain/mcp-servers/operations/live-tools.js';
import type { McpToolsActivities } from '../workflows/mcp-tools/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

/** Reads the tools of a connector's MCP server. */
export function createMcpActivities(deps: Parameters<typeof listLiveTools>[0]): McpToolsActivities {
  return { listMcpTools: (request) => withHeartbeat(null, ({ signal }) => listLiveTools(deps, request, signal)) };
}
