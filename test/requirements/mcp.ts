import type { Requirement } from './requirement.js';

/** The MCP surface over both transports. */
export const mcp = [
  {
    id: 'mcp.streamable-http.post',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /mcp accepts protocol messages and answers as JSON or as a stream.',
  },
  {
    id: 'mcp.streamable-http.get',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'GET /mcp opens the stream of the server within a session.',
  },
  { id: 'mcp.streamable-http.delete', source: 'docs/guides/mcp-and-oauth.md', says: 'DELETE /mcp ends the session.' },
  {
    id: 'mcp.streamable-http.resume',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A stream opened with Last-Event-ID delivers what was missed, once.',
  },
  {
    id: 'mcp.sse',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /sse with POST /messages?session= serves clients of the older transport.',
  },
  {
    id: 'mcp.rebinding',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A foreign Origin or Host is refused on every MCP path.',
  },
  {
    id: 'mcp.unauthorized',
    source: 'docs/specification.md#context-gateway',
    says: 'Without a valid credential MCP answers 401 with Www-Authenticate, which links to the resource metadata.',
  },
  {
    id: 'mcp.versions',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Every protocol version that the SDK supports is negotiated and served.',
  },
  {
    id: 'mcp.stateless-revision',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The 2026-07-28 revision is served without a session at the same address, with input_required and a sealed state.',
  },
  {
    id: 'mcp.tools.list',
    source: 'docs/specification.md#context-gateway',
    says: 'Every tool route is an MCP tool with the same name in underscores, with schemas and read-only and destructive hints.',
  },
  {
    id: 'mcp.tools.call',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A tool call returns structured output that fits its output schema and equals the REST answer.',
  },
  {
    id: 'mcp.tools.agentflows',
    source: 'docs/guides/mcp-and-oauth.md#agentflows-as-tools',
    says: 'An agentflow with expose_as_tool is a tool of its project with its schemas; a call is governed like run_agent, and its structured content has the typed output.',
  },
  {
    id: 'mcp.tools.agentflows.names',
    source: 'https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names',
    says: 'The tool of an agentflow has a name of 1 to 64 letters, digits and underscores, unique in the project, which no tool of the service has.',
  },
  {
    id: 'mcp.tools.refusal',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A refusal is a tool error with stage, description and lifecycle id.',
  },
  {
    id: 'mcp.resources',
    source: 'docs/specification.md#context-gateway',
    says: 'context://ontology and context://governance can be listed and read.',
  },
  {
    id: 'mcp.prompt',
    source: 'docs/specification.md#context-gateway',
    says: 'A prompt helps to write a query based on the ontology of the project.',
  },
  {
    id: 'mcp.progress',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'run-agent reports progress to a client that requests it, and a client can await its end.',
  },
  {
    id: 'mcp.approval',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A call held for approval explains to the client how to complete it, by elicitation if the client supports it.',
  },
  {
    id: 'mcp.sessions.missing',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A call without the session that it needs is answered 400, and 404 if its session is unknown.',
  },
  {
    id: 'mcp.sessions.owner',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A session used with the credential of another caller is refused.',
  },
  {
    id: 'mcp.sessions.process-lost',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'After the loss of an API process, a session continues or ends with a 404 after which clients initialize again.',
  },
  {
    id: 'mcp.sessions.idle',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Idle sessions are closed, and 5,000 sessions do not grow the memory.',
    fullForm: 'MCP_SESSIONS',
  },
  {
    id: 'mcp.sdk-client',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Over both transports, the SDK client gets from the bare address to a governed query, a refresh and a revocation.',
  },
  {
    id: 'mcp.approval.renewed-token',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'After the access token of a held call has expired, the approval is used with the renewed token of the session.',
  },
  {
    id: 'mcp.wait.renewed-token',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'wait_for_execution outlives the access token and ends with a clear error when its grant is revoked.',
  },
  {
    id: 'mcp.approval.rounds',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'In every protocol generation, a person who accepts before the approval is asked three times; then the call ends as pending with its approval id.',
  },
  {
    id: 'mcp.tools.output-schema',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An output schema names every property of an answer at its root.',
  },
  {
    id: 'mcp.unauthorized.resource',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The 401 of /mcp and /sse links to metadata whose resource is that address.',
  },
  {
    id: 'mcp.step-up',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The first challenge names the reading scopes; a call without its scope is answered 403 insufficient_scope with the required scopes, and is recorded.',
  },
  {
    id: 'mcp.streams.renewed-token',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An idle stream outlives the access token while its grant lives, and ends when the grant is revoked.',
  },
  {
    id: 'mcp.resources.unknown',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An unknown resource is answered -32002 up to 2025-11-25.',
  },
  {
    id: 'mcp.malformed',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Invalid parameters of a method are answered -32602 with a readable message.',
  },
  {
    id: 'mcp.null-members',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Members of parameters that are null count as absent, and an invalid initialize request is told what it lacks.',
  },
  {
    id: 'mcp.requests.ids',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A request with the id of an unanswered request of its session is refused, and the other request is answered.',
  },
  {
    id: 'mcp.requests.cancelled',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A cancelled request of any method ends.',
  },
  { id: 'mcp.accept-anything', source: 'docs/guides/mcp-and-oauth.md', says: 'Accept: */* is accepted.' },
  {
    id: 'mcp.no-batches',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Versions from 2025-06-18 on take no batches.',
  },
  {
    id: 'mcp.tools.list.cost',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The tool list has a size limit and a time to live.',
  },
  {
    id: 'mcp.sessions.per-organization',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The number of MCP sessions of an organization in a process is limited.',
  },
  {
    id: 'mcp.tasks.held',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A held call can be a task; its answer is fetched after the approval, in both protocol generations.',
  },
  {
    id: 'mcp.tasks.run',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'run_agent and wait_for_execution can be tasks; they survive the loss of the client and of any API process.',
  },
  { id: 'mcp.tasks.owner', source: 'docs/guides/mcp-and-oauth.md', says: 'A task is visible only to its caller.' },
  {
    id: 'mcp.tasks.cancel',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A cancelled task makes no call, and cancels the run that it started.',
  },
  {
    id: 'mcp.approval.page',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A client that can open addresses is directed to the approval page; other clients receive its address.',
  },
  {
    id: 'mcp.inbox',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The person behind an MCP session lists the items that wait for a person and decides them with the tool inbox, by the rules of the inbox; the requester, a key without the grant and an OAuth client cannot decide an approval.',
  },
  {
    id: 'mcp.list-changed',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Open streams are notified of ontology, policy and grant changes made by any process.',
  },
  {
    id: 'mcp.scopes-in-reach',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An OAuth client is told all scopes, and sees every tool that its person can give it; a call without the scope asks for it.',
  },
  {
    id: 'mcp.streamable-http.takeover',
    source: 'https://modelcontextprotocol.io/specification/2025-11-25/basic/transports',
    says: 'The newest stream of a session takes over from an earlier one that has not ended.',
  },
] as const satisfies readonly Requirement[];
