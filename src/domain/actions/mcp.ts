import type { McpToolPlan } from '../../../workflows/agentflow-execution/mcp-tool-plan.js';
import { AppError, isAppError } from '../../base/errors.js';
import { canonicalText, type JsonObject } from '../../base/json.js';
import { answerGate, checkJson } from '../../base/json-gate.js';
import type { McpSession } from '../../outbound/mcp-client.js';
import type { ElicitationQuestion, McpSessionOptions } from '../../outbound/mcp-link.js';
import { isOutboundError, OutboundError, withUnsent } from '../../outbound/outbound-error.js';
import { hashOf } from '../mcp-servers/rules.js';
import {
  openServer,
  readDefinitions,
  suspendChangedTools,
  type OpenServer,
} from '../mcp-servers/operations/live-tools.js';
import { requireOwnRun } from '../mcp-servers/operations/personal-runs.js';
import { mcpToolId, type McpToolDefinition, type McpToolDocument } from '../mcp-servers/record.js';
import type {
  ActionCall,
  ActionDeps,
  ActionExecutor,
  ActionOutput,
  CallProgress,
  OpenConnector,
} from './action-call.js';
import { inputOf } from './action-fields.js';
import { hideSecrets } from '../../outbound/hide-secrets.js';
import { readMcpResult } from './mcp-result.js';
import { keepResultFiles } from './result-files.js';

/** Less than the two minutes that the workflow allows for the step, so that the failure states its cause. */
const timeoutMs = 100_000;
/** The key in `_meta`, for servers that know it. */
const keyName = 'governed-context-service/idempotency-key';
const defaultMaxBytes = 1024 * 1024;

/**
 * Calls a tool of an MCP server, if the server still offers it exactly as a person accepted it.
 * @throws OutboundError `tool_not_accepted`, `tool_suspended`, `authorization_needed`, `outcome_unknown` and what the server causes
 */
export const mcp: ActionExecutor = async (deps, call) => {
  const { request, connector } = call;
  const { tool, name } = request.action;
  if (!connector || !tool)
    throw new AppError('unconfigured', `the action "${name}" needs an mcp connector and an accepted tool`);
  const use = {
    connectorId: connector.id,
    projectId: request.project_id,
    userId: request.run?.executed_by,
    organizationId: connector.organization_id,
  };
  const opened = openServer(deps, connector.config, use);
  if (opened.isPersonal && request.run)
    await requireOwnRun(
      { collections: deps.mongo.collections, box: deps.secrets },
      { ...request.run, project_id: request.project_id, connector_id: connector.id },
    );
  const accepted = JSON.parse((await acceptedTool(deps, call, tool)).definition) as McpToolDefinition;
  const { annotations = {} } = accepted;
  const input = { ...request.input?.arguments, ...request.input?.edits, ...inputOf(request) };
  const isRepeatable = annotations.readOnlyHint === true || annotations.idempotentHint === true;
  const { host, pathname } = 'url' in opened.target ? new URL(opened.target.url) : { host: 'stdio', pathname: '' };
  return {
    ...{ host, method: 'CALL', path: pathname, input },
    exact: { server: opened.server, tool: tool.name, definition: tool.hash, arguments: input },
    isRepeatable,
    // The author of a skill can give the action any name.
    facts: { tool: tool.name },
    annotations: {
      read_only: annotations.readOnlyHint === true,
      // A hint that a tool omits has its more dangerous value (MCP, ToolAnnotations).
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
  call: ActionCall,
  { connector, tool, opened, input, isRepeatable }: ToolCall,
): Promise<ActionOutput> {
  const { request, signal, maxBytes = defaultMaxBytes } = call;
  const { name } = request.action;
  const { target, secrets } = opened;
  let isSent = false;
  const result = await deps.mcp
    .use(
      target,
      { owner: connector.organization_id, timeoutMs, signal, secrets, ask: askerOf(deps, call, { opened, tool }) },
      async (session) => {
        const live = await liveTool(deps, session, { connectorId: connector.id, opened, tool });
        isSent = true;
        const onProgress = (progress: CallProgress) =>
          call.onProgress?.(hideSecrets(progress, secrets) as CallProgress);
        return session.callTool(live.name, input, { meta: { [keyName]: request.idempotency_key }, onProgress });
      },
    )
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (!isSent) throw withUnsent(error, true);
      throw isRepeatable || isAnswer(error) ? error : lostAnswer(tool.name, error);
    });
  checkJson(result, answerGate(`the result of "${name}"`));
  const { value, files } = readMcpResult(name, hideSecrets(result, secrets) as typeof result);
  if (canonicalText(value).length > maxBytes)
    throw new OutboundError('too_large', `the result of "${name}" is larger than ${maxBytes} bytes`);
  await keepResultFiles(deps, request, connector.id, files);
  return { value, secrets };
}

/** Asks a person the questions of the server during the call. Without a run, nobody can be asked. */
function askerOf(
  { questions }: ActionDeps,
  { request: { run, project_id, idempotency_key }, connector, stepEndsAt }: ActionCall,
  { opened: { server, isPersonal, secrets }, tool }: { opened: OpenServer; tool: McpToolPlan },
): McpSessionOptions['ask'] {
  if (!run || !connector || stepEndsAt === undefined) return undefined;
  const { execution_id, executed_by, organization_id, agent_id, agentflow_name: agentflow } = run;
  const step_id = idempotency_key.slice(execution_id.length + 1);
  const ask = questions({
    ...{ project_id, organization_id, execution_id, agent_id, step_id, agentflow },
    ...{ connector_id: connector.id, server, tool: tool.name, step_ends_at: stepEndsAt },
    ...(isPersonal && { owner_id: executed_by }),
  });
  return (question, signal) => ask(hideSecrets(question, secrets) as ElicitationQuestion, signal);
}

/** The model of the run sees the definition whose hash is in the plan, so only this definition may be called. */
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
  { connectorId, opened, tool: { name, hash } }: { connectorId: string; opened: OpenServer; tool: McpToolPlan },
): Promise<McpToolDefinition> {
  const live = await readDefinitions(session);
  await suspendChangedTools(collections, connectorId, opened, live);
  const pinned = await collections.mcp_tools.findOne({ _id: mcpToolId(connectorId, name) });
  const found = live.find((each) => each.name === name);
  if (pinned?.suspended) throw suspended(name, pinned.suspended.reason);
  if (!found && opened.isPersonal)
    throw new OutboundError(
      'tool_not_accepted',
      `the server does not offer the tool "${name}" to the person on whose behalf the run works`,
    );
  // The server may have changed the tool again since it was accepted for another run.
  if (!found || found.problems || pinned?.hash !== hash || hashOf(found) !== hash)
    throw suspended(name, 'the server changed its definition');
  return found;
}

function suspended(name: string, reason: string): OutboundError {
  return new OutboundError(
    'tool_suspended',
    `the tool "${name}" is suspended: ${reason}. A person must accept its tools again`,
  );
}

/** With these statuses, a server says that it has not handled the request (RFC 9110, 15.5.9 and 15.6.4; RFC 8470; RFC 6585). */
const unhandled: ReadonlySet<number | undefined> = new Set([408, 425, 429, 503]);

function isAnswer(error: unknown): boolean {
  return isAppError(error) || (isOutboundError(error) && (!error.retryable || unhandled.has(error.status)));
}

/** Not retryable: no idempotency key of the protocol is known to every server. */
function lostAnswer(name: string, error: unknown): OutboundError {
  const why = isOutboundError(error) ? error.message : 'for an unexpected reason';
  return new OutboundError(
    'outcome_unknown',
    `the answer of the tool "${name}" was lost (${why}); it may have acted, so it is not called again`,
  );
}
