import type { McpToolPlan } from '../../../workflows/agentflow-execution/mcp-tool-plan.js';
import { AppError } from '../../errors.js';
import { canonicalText, type JsonObject } from '../../json.js';
import type { McpSession } from '../../outbound/mcp-client.js';
import { isOutboundError, OutboundError } from '../../outbound/outbound-error.js';
import { hashOf } from '../mcp-servers/rules.js';
import { openServer, readDefinitions, suspendChanged, type OpenServer } from '../mcp-servers/operations/live-tools.js';
import { mcpToolId, type McpToolDefinition, type McpToolDocument } from '../mcp-servers/record.js';
import type { ActionCall, ActionDeps, ActionExecutor, ActionOutput, OpenConnector } from './action-call.js';
import { inputOf } from './action-fields.js';
import { hideSecrets } from './hidden-secrets.js';
import { readMcpResult } from './mcp-result.js';

/** Less than the two minutes that the workflow allows for the step, so that the failure states its cause. */
const timeoutMs = 100_000;
/** In `_meta`, for servers that know it. */
const keyName = 'governed-context-service/idempotency-key';
const defaultMaxBytes = 1024 * 1024;

/**
 * Calls a tool of an MCP server, if the server still offers it exactly as a person accepted it.
 * @throws OutboundError `tool_not_accepted`, `tool_suspended`, `outcome_unknown` and what the server causes
 */
export const mcp: ActionExecutor = async (deps, call) => {
  const { request, connector } = call;
  const { tool, name } = request.action;
  if (!connector || !tool)
    throw new AppError('unconfigured', `the action "${name}" needs an mcp connector and an accepted tool`);
  const opened = openServer(deps, connector.config);
  const accepted = JSON.parse((await acceptedTool(deps, call, tool)).definition) as McpToolDefinition;
  const { annotations = {} } = accepted;
  const input = { ...request.input?.arguments, ...inputOf(request) };
  const isRepeatable = annotations.readOnlyHint === true || annotations.idempotentHint === true;
  const { host, pathname } = 'url' in opened.target ? new URL(opened.target.url) : { host: 'stdio', pathname: '' };
  return {
    ...{ host, method: 'CALL', path: pathname, input },
    exact: { server: opened.server, tool: tool.name, definition: tool.hash, arguments: input },
    isRepeatable,
    annotations: {
      read_only: annotations.readOnlyHint === true,
      // What a tool does not say counts as the worse (MCP, ToolAnnotations).
      destructive: annotations.readOnlyHint !== true && annotations.destructiveHint !== false,
      open_world: annotations.openWorldHint !== false,
    },
    send: () => callTool(deps, call, { connector, tool, opened, input, isRepeatable }),
  };
};

interface ToolCall {
  connector: OpenConnector;
  tool: McpToolPlan;
  opened: OpenServer;
  input: JsonObject;
  isRepeatable: boolean;
}

async function callTool(
  deps: ActionDeps,
  { request, signal, maxBytes = defaultMaxBytes }: ActionCall,
  { connector, tool, opened: { target, server, secrets }, input, isRepeatable }: ToolCall,
): Promise<ActionOutput> {
  const { name } = request.action;
  let isSent = false;
  const result = await deps.mcp
    .use(target, { timeoutMs, signal }, async (session) => {
      const live = await liveTool(deps, session, { connectorId: connector.id, server, tool });
      isSent = true;
      return session.callTool(live.name, input, { [keyName]: request.idempotency_key });
    })
    .catch((error: unknown) => {
      if (!isOutboundError(error) || !error.retryable) throw error;
      if (!isSent) throw new OutboundError(error.code, error.message, { isUnsent: true });
      throw isRepeatable ? error : lostAnswer(tool.name, error);
    });
  const value = readMcpResult(name, hideSecrets(result, secrets) as typeof result);
  if (canonicalText(value).length > maxBytes)
    throw new OutboundError('too_large', `the result of "${name}" is larger than ${maxBytes} bytes`);
  return { value, secrets };
}

/** The run shows its model the definition with the hash of its plan, so only this definition may be called. */
async function acceptedTool(
  { mongo }: ActionDeps,
  { connector, request }: ActionCall,
  { name, hash }: McpToolPlan,
): Promise<McpToolDocument> {
  const pinned = await mongo.collections.mcp_tools.findOne({ _id: mcpToolId(connector?.id ?? '', name) });
  if (pinned?.projectID !== request.project_id)
    throw new OutboundError('tool_not_accepted', `the tool "${name}" is not accepted`);
  if (pinned.suspended) throw suspended(name, pinned.suspended.reason);
  if (pinned.hash !== hash)
    throw new OutboundError(
      'tool_not_accepted',
      `the tool "${name}" was accepted with another definition after this run began: start a new run`,
    );
  return pinned;
}

/** Compares what the server offers with all accepted tools, and suspends those that differ. */
async function liveTool(
  { mongo: { collections } }: ActionDeps,
  session: McpSession,
  { connectorId, server, tool: { name, hash } }: { connectorId: string; server: string; tool: McpToolPlan },
): Promise<McpToolDefinition> {
  const live = await readDefinitions(session);
  await suspendChanged(collections, connectorId, server, live);
  const pinned = await collections.mcp_tools.findOne({ _id: mcpToolId(connectorId, name) });
  const found = live.find((each) => each.name === name);
  if (pinned?.suspended) throw suspended(name, pinned.suspended.reason);
  // The server may have changed the tool again since it was accepted for another run.
  if (!found || pinned?.hash !== hash || hashOf(found) !== hash)
    throw suspended(name, 'the server changed its definition');
  return found;
}

function suspended(name: string, reason: string): OutboundError {
  return new OutboundError(
    'tool_suspended',
    `the tool "${name}" is suspended: ${reason}. A person must accept its tools again`,
  );
}

/** Not retried, because the protocol has no idempotency keys that every server knows. */
function lostAnswer(name: string, { message }: OutboundError): OutboundError {
  return new OutboundError(
    'outcome_unknown',
    `the answer of the tool "${name}" was lost (${message}); it may have acted, so it is not called again`,
  );
}
