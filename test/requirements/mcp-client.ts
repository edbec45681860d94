import type { Requirement } from './requirement.js';

/** MCP servers as connectors. */
export const mcpClient = [
  {
    id: 'mcp-client.connect',
    source: 'docs/guides/mcp-servers.md',
    says: 'POST /connectors/{projectID}/mcp connects an MCP server of either era over Streamable HTTP, with its header sealed.',
  },
  {
    id: 'mcp-client.every-tool',
    source: 'docs/guides/mcp-servers.md',
    says: 'An agent can call every tool of server-everything, also the one that is called only as a task, over HTTP and stdio, and its model gets the schemas.',
  },
  {
    id: 'mcp-client.stdio',
    source: 'docs/guides/mcp-servers.md',
    says: 'Workers run only the commands that MCP_STDIO_COMMANDS lists.',
  },
  {
    id: 'mcp-client.accept',
    source: 'docs/guides/mcp-servers.md',
    says: 'A person accepts the definitions that they read; a list that changed in the meantime is not accepted.',
  },
  {
    id: 'mcp-client.suspended',
    source: 'docs/guides/mcp-servers.md',
    says: '100 changed definitions suspend 100 tools until a person accepts them again.',
  },
  {
    id: 'mcp-client.refused',
    source: 'docs/guides/mcp-servers.md',
    says: 'Colliding names, hidden characters, over-long descriptions, too many tools and oversized lists are refused with a clear error.',
  },
  {
    id: 'mcp-client.results',
    source: 'docs/guides/mcp-servers.md',
    says: 'Results are bounded, hide the secrets of the connector, and report errors to the agent; cancelling a run aborts the call.',
  },
  {
    id: 'mcp-client.outcome-unknown',
    source: 'docs/guides/mcp-servers.md',
    says: 'A call whose answer is lost is not repeated unless the accepted annotations call the tool read-only or idempotent.',
  },
  {
    id: 'mcp-client.allow-list',
    source: 'docs/guides/mcp-servers.md',
    says: 'A skill can name only accepted tools of its own project, and a run does not start without them.',
  },
  {
    id: 'mcp-client.private-addresses',
    source: 'docs/guides/mcp-servers.md',
    says: 'An MCP server at a private address is refused unless ALLOW_PRIVATE_TARGETS allows it.',
  },
  {
    id: 'mcp-client.files',
    source: 'docs/guides/mcp-servers.md',
    says: 'Images, audio and blob resources in a result of a tool become files of the project, tagged with the execution, at most 20 for each call.',
  },
  {
    id: 'mcp-client.progress',
    source: 'docs/guides/mcp-servers.md',
    says: 'The event stream of a run shows the progress that a tool reports while it works: at most two reports a second and 200 for each call, each with at most 500 characters.',
  },
  {
    id: 'mcp-client.elicitation',
    source: 'docs/guides/mcp-servers.md',
    says: 'What an MCP server asks during a call waits in the inbox until a signed-in person gives values that fit its schema, declines or cancels; if nobody does in time, the server gets cancel. Time during a pause of the run does not count.',
  },
  {
    id: 'mcp-client.elicitation-killed',
    source: 'docs/guides/mcp-servers.md',
    says: 'If the worker of a call that asks is killed, the repeated call asks the same question, and an answer in between is kept.',
  },
  {
    id: 'mcp-oauth.flow',
    source: 'docs/guides/mcp-servers.md',
    says: 'A person authorizes an MCP server with OAuth 2.1 (discovery, PKCE S256, state, resource), and runs on behalf of this person use the token.',
  },
  {
    id: 'mcp-oauth.state',
    source: 'docs/guides/mcp-servers.md',
    says: 'A state works once, for the person and the connector that it was made for.',
  },
  {
    id: 'mcp-oauth.refused',
    source: 'docs/guides/mcp-servers.md',
    says: 'An answer of another issuer, an authorization server without PKCE, and an insecure endpoint are refused.',
  },
  {
    id: 'mcp-oauth.private-addresses',
    source: 'docs/guides/mcp-servers.md',
    says: 'Requests to the MCP server and its authorization server obey the rules for private addresses.',
  },
  {
    id: 'mcp-oauth.client',
    source: 'docs/guides/mcp-servers.md',
    says: 'The product shows a client metadata document to authorization servers that support it, and otherwise registers once for each connector.',
  },
  {
    id: 'mcp-oauth.console',
    source: 'docs/guides/mcp-servers.md',
    says: 'The callback page completes an authorization only for the person who began it.',
  },
  {
    id: 'mcp-oauth.refresh',
    source: 'docs/guides/mcp-servers.md',
    says: 'An expired or refused token is refreshed, also if the first answer is lost. A refused refresh token ends the authorization.',
  },
  {
    id: 'mcp-oauth.ended',
    source: 'docs/guides/mcp-servers.md',
    says: 'An authorization that ended, also because a process died with rotated tokens, is named with its reason by the connector, by the call of the agent, and in the inbox of the person, until they authorize again.',
  },
  {
    id: 'mcp-oauth.one-refresh',
    source: 'docs/guides/mcp-servers.md',
    says: '50 simultaneous expiries cause one refresh, across processes.',
  },
  {
    id: 'mcp-oauth.own-token',
    source: 'docs/guides/mcp-servers.md',
    says: '10,000 interleaved calls of 50 people never carry the token of another.',
    fullForm: 'MCP_OAUTH_CALLS',
  },
  {
    id: 'mcp-oauth.needed',
    source: 'docs/guides/mcp-servers.md',
    says: 'A call without a token of its person for this address of the server is refused with how to authorize.',
  },
  {
    id: 'mcp-oauth.deleted',
    source: 'docs/guides/mcp-servers.md',
    says: 'Withdrawing an authorization, deleting the connector and removing the member delete the tokens.',
  },
  {
    id: 'mcp-oauth.revoked',
    source: 'docs/guides/mcp-servers.md',
    says: 'Withdrawing an authorization, deleting the connector and removing the member revoke the tokens at an authorization server with a revocation endpoint (RFC 7009), later if it does not answer. They are deleted here at once.',
  },
  {
    id: 'mcp-oauth.sealed',
    source: 'docs/guides/mcp-servers.md',
    says: 'No token is in an answer, an audit entry, a lifecycle or an unsealed record.',
  },
  {
    id: 'mcp-oauth.clients',
    source: 'docs/guides/mcp-servers.md',
    says: 'Both generated clients support the routes of an authorization.',
  },
  {
    id: 'mcp-client.linked-resources',
    source: 'https://modelcontextprotocol.io/specification/2025-11-25/server/tools#resource-links',
    says: 'The agent gets the resources to which a result links. A resource that cannot be read never fails the call.',
  },
  {
    id: 'mcp.world',
    source: 'https://modelcontextprotocol.io/specification/2025-11-25',
    says: 'What servers and clients send according to at least 100 public sources leads to the right outcome.',
  },
  {
    id: 'mcp-client.odd-tools',
    source: 'docs/guides/mcp-servers.md',
    says: 'One odd tool never disables a server: it is listed with its problems and cannot be accepted, and the others can. Members that are null count as absent.',
  },
  {
    id: 'mcp-client.odd-results',
    source: 'docs/guides/mcp-servers.md',
    says: 'What has an unknown form in a result reaches the agent as readable text, and errors keep the text of the server.',
  },
  {
    id: 'mcp-client.unchecked',
    source: 'docs/guides/mcp-servers.md',
    says: 'If no thread is free for a check of structured content, the result is used without it; the tool is not called again.',
  },
  {
    id: 'mcp-client.resumed',
    source: 'docs/guides/mcp-servers.md',
    says: 'A stream that a server ends after an event id is resumed, after the time that the server asks for, until the answer arrives.',
  },
  {
    id: 'mcp-client.sse',
    source: 'docs/guides/mcp-servers.md',
    says: 'A server that knows only HTTP with SSE (2024-11-05) can be used, under the same limits.',
  },
  {
    id: 'mcp-oauth.pre-registered',
    source: 'docs/guides/mcp-servers.md',
    says: 'A client that is registered at the authorization server already comes before all other ways. Its secret is never shown, and goes to one authorization server only.',
  },
  {
    id: 'mcp-oauth.step-up',
    source: 'docs/guides/mcp-servers.md',
    says: 'A scope that a call needs is requested in addition to the present ones when the server is authorized again.',
  },
  {
    id: 'mcp-oauth.others',
    source: 'docs/guides/mcp-servers.md',
    says: 'Answers of authorization servers with null or missing members can be used, and their refusals keep their text.',
  },
] as const satisfies readonly Requirement[];
