import type { McpToolsInput } from '../../../../workflows/mcp-tools/messages.js';
import type { SecretBox } from '../../../auth/secret-box.js';
import { AppError } from '../../../base/errors.js';
import type { McpClient, McpSession } from '../../../outbound/mcp-client.js';
import type { BearerToken, McpTarget } from '../../../outbound/mcp-transport.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import type { McpChecks } from '../../../threads/mcp-checks.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../base/time.js';
import { McpConfig } from '../../connectors/rules/config.js';
import { findConnector, openConfig, type ConnectorCollections } from '../../connectors/operations/store.js';
import { definitionOf, hashOf, maxTools } from '../rules.js';
import { recordUse } from '../../connectors/operations/uses.js';
import type { LiveTool, McpToolDefinition } from '../record.js';
import { stdioTarget, type StdioConfig } from './stdio-target.js';
import type { McpTokens, TokenFor } from './tokens.js';

export interface McpServerDeps {
  mcp: McpClient;
  mcpTokens: McpTokens;
  stdio: StdioConfig;
}

export interface OpenServer {
  target: McpTarget;
  /** The URL or the name of the command. Pins belong to it. */
  server: string;
  /** Whether each person authorizes the server, so that it may offer other tools to each. */
  isPersonal: boolean;
  /** Everything that was sent to authenticate. Tokens are added when they are used. */
  secrets: string[];
}

/** The connector that is used, and on whose behalf. */
type ServerUse = Pick<TokenFor, 'connectorId' | 'projectId' | 'userId'> & { organizationId: string };

/** @throws AppError `unconfigured` for a configuration that cannot be used, and for a command that this worker does not allow */
export function openServer(
  { stdio, mcpTokens }: Pick<McpServerDeps, 'stdio' | 'mcpTokens'>,
  config: Record<string, unknown>,
  use: ServerUse,
): OpenServer {
  const { url, command, auth } = McpConfig.safeParse(config).data ?? {};
  if (url !== undefined) {
    const headers = auth?.type === 'header' ? { [auth.name.toLowerCase()]: auth.value } : {};
    const secrets = secretsIn(Object.values(headers));
    if (auth?.type !== 'oauth') return { target: { url, headers }, server: url, isPersonal: false, secrets };
    const tokenFor = { ...use, server: url, owner: auth.owner };
    const bearer: BearerToken = async (refused) => {
      const token = await mcpTokens.tokenFor(tokenFor, refused);
      secrets.push(token);
      return token;
    };
    const needScope = (scope: string) => mcpTokens.needScope(tokenFor, scope);
    return { target: { url, headers, bearer, needScope }, server: url, isPersonal: auth.owner === 'person', secrets };
  }
  if (command === undefined)
    throw new AppError('unconfigured', 'the configuration of the connector cannot be used: give url or command');
  return { target: stdioTarget(stdio, command, use), server: command, isPersonal: false, secrets: [] };
}

/** Whether each person authorizes the server of this configuration. */
export function isPersonal(config: Record<string, unknown>): boolean {
  const { auth } = McpConfig.safeParse(config).data ?? {};
  return auth?.type === 'oauth' && auth.owner === 'person';
}

/** The values, and the credentials after a scheme such as Bearer. */
function secretsIn(values: string[]): string[] {
  return values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)]);
}

const maxChanges = 3;

/** The tools that a server offers. Odd ones have `problems`. @throws AppError `validation_failed` for too many tools */
export async function readDefinitions(session: McpSession): Promise<LiveTool[]> {
  let tools = await session.listTools();
  // A server may still change its tools while the session begins. A server that never stops changing them cannot be used.
  for (let left = maxChanges; session.hasChanged(); left -= 1) {
    if (left === 0) throw new OutboundError('unreachable', 'the MCP server keeps changing its tools');
    tools = await session.listTools();
  }
  if (tools.length > maxTools)
    throw new AppError(
      'validation_failed',
      `the MCP server offers ${tools.length} tools; at most ${maxTools} are allowed`,
    );
  return tools.map(({ problems, ...tool }) => ({
    ...definitionOf(tool as McpToolDefinition),
    ...(problems && { problems }),
  }));
}

/**
 * Suspends every accepted tool that the server does not offer as it was accepted. It stays suspended until a person accepts
 * it again, even if the server returns to the accepted definition. A tool that a server does not offer to one person may be
 * offered to others, so it is not suspended.
 */
export async function suspendChangedTools(
  { mcp_tools }: Pick<Collections, 'mcp_tools'>,
  connectorId: string,
  { server, isPersonal: offersDiffer }: Pick<OpenServer, 'server' | 'isPersonal'>,
  live: readonly LiveTool[],
): Promise<void> {
  const hashes = new Map<string, string>();
  // A name that is offered twice does not identify an accepted tool, and an odd definition is none that was accepted.
  for (const each of live) hashes.set(each.name, hashes.has(each.name) || each.problems ? '' : hashOf(each));
  const pinned = await mcp_tools
    .find({ connector_id: connectorId, suspended: null }, { projection: { definition: 0 } })
    .toArray();
  const changes = pinned.flatMap(({ _id, name, hash, server: acceptedAt }) => {
    const isMissing = !hashes.has(name);
    if (acceptedAt !== server) return [{ _id, hash, reason: 'the connector names another server' }];
    if (hashes.get(name) === hash || (isMissing && offersDiffer)) return [];
    const reason = isMissing ? 'the server no longer offers the tool' : 'the server changed its definition';
    return [{ _id, hash, reason }];
  });
  if (changes.length === 0) return;
  const at = epochSeconds();
  await mcp_tools.bulkWrite(
    changes.map(({ _id, hash, reason }) => ({
      updateOne: { filter: { _id, hash, suspended: null }, update: { $set: { suspended: { at, reason } } } },
    })),
  );
}

const timeoutMs = 30_000;

/** Adds the problems of the schemas, without which a tool could be accepted that then fails at each call. */
async function withSchemaProblems(
  { problemsOfSchemas }: McpChecks,
  owner: string,
  live: readonly LiveTool[],
): Promise<LiveTool[]> {
  const schemas = live.flatMap((tool) =>
    (['inputSchema', 'outputSchema'] as const).flatMap((field) => {
      const schema = tool[field];
      return schema && !tool.problems ? [{ tool, field, schema }] : [];
    }),
  );
  const found = await problemsOfSchemas(
    schemas.map(({ field, schema }) => ({ schema, isOutput: field === 'outputSchema' })),
    { owner },
  );
  return live.map((tool) => {
    const problems = schemas.flatMap((each, at) => {
      const problem = found[at];
      return each.tool === tool && problem !== undefined
        ? [`${each.field}: is not a valid JSON Schema: ${problem}`]
        : [];
    });
    return problems.length === 0 ? tool : { ...tool, problems: [...(tool.problems ?? []), ...problems] };
  });
}

/** Reads the tools of a connector's server, and suspends accepted tools that it changed. */
export async function listLiveTools(
  deps: McpServerDeps & {
    mcpChecks: McpChecks;
    collections: ConnectorCollections & Pick<Collections, 'mcp_tools' | 'project_news'>;
    box: SecretBox;
  },
  { connector_id, project_id, user_id }: McpToolsInput,
  signal: AbortSignal,
): Promise<LiveTool[]> {
  const connector = await findConnector(deps.collections, connector_id);
  if (connector?.projectID !== project_id) throw new AppError('not_found', 'the connector was not found');
  const use = {
    connectorId: connector_id,
    projectId: project_id,
    userId: user_id,
    organizationId: connector.organization_id,
  };
  const opened = openServer(deps, openConfig(deps.box, connector), use);
  const live = await recordUse(deps.collections, connector_id, signal, () =>
    deps.mcp.use(
      opened.target,
      { owner: use.organizationId, timeoutMs, signal, secrets: opened.secrets },
      readDefinitions,
    ),
  );
  await suspendChangedTools(deps.collections, connector_id, opened, live);
  return withSchemaProblems(deps.mcpChecks, use.organizationId, live);
}
