import type { Requirement } from './requirement.js';

/** MCP servers as connectors. */
export const mcpClient = [
  {
    id: 'mcp-client.connect',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'POST /connectors/{projectID}/mcp connects an MCP server of either era over Streamable HTTP, with its header sealed.',
  },
  {
    id: 'mcp-client.every-tool',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'An agent can call every tool of server-everything that needs no task, over HTTP and stdio, and its model gets the schemas.',
  },
  {
    id: 'mcp-client.stdio',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'Workers run only the commands that MCP_STDIO_COMMANDS lists.',
  },
  {
    id: 'mcp-client.accept',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'A person accepts the definitions that they read; a list that changed in the meantime is not accepted.',
  },
  {
    id: 'mcp-client.suspended',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: '100 changed definitions suspend 100 tools until a person accepts them again.',
  },
  {
    id: 'mcp-client.refused',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'Colliding names, hidden characters, over-long descriptions, too many tools and oversized lists are refused with a clear error.',
  },
  {
    id: 'mcp-client.results',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'Results are bounded, hide the secrets of the connector, and report errors to the agent; cancelling a run aborts the call.',
  },
  {
    id: 'mcp-client.outcome-unknown',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'A call whose answer is lost is not repeated unless the accepted annotations call the tool read-only or idempotent.',
  },
  {
    id: 'mcp-client.allow-list',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'A skill can name only accepted tools of its own project, and a run does not start without them.',
  },
  {
    id: 'mcp-client.private-addresses',
    source: 'issue 16: 2',
    part: 11,
    delivered: true,
    says: 'An MCP server at a private address is refused unless ALLOW_PRIVATE_TARGETS allows it.',
  },
] as const satisfies readonly Requirement[];
