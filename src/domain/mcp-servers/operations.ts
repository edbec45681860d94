import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { AppError, notFound } from '../../base/errors.js';
import { canonicalText } from '../../base/json.js';
import { textFacts } from '../../governance/operations/operation.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import type { ConnectorDocument } from '../connectors/record.js';
import { openConfig } from '../connectors/operations/store.js';
import { requireConnector } from '../connectors/operations/setup.js';
import type { Deps } from '../deps.js';
import { defineOperation, reads, writes } from '../operation.js';
import { askForTools } from './ask-worker.js';
import { isPersonal } from './operations/live-tools.js';
import { definitionOf, hashOf, hashOfAll, problemsOf } from './rules.js';
import { mcpToolId, type LiveTool } from './record.js';
import type { McpAuthorizationDocument } from './record/authorizations.js';
import {
  beginAuthorization,
  completeAuthorization,
  findAuthorization,
  oauthServerOf,
  requireOwner,
  withdrawAuthorization,
  type OauthServer,
} from './operations/authorize.js';
import {
  AcceptMcpTools,
  CompleteMcpAuthorization,
  McpAuthorization,
  McpAuthorizationAddress,
  McpTools,
  toMcpAuthorization,
  toMcpTools,
} from './schemas.js';
import { Id } from '../../base/ids.js';
export {
  createMcpAgreement,
  deleteMcpAgreement,
  listMcpAgreements,
  readMcpAgreementOffer,
} from './operations/agreements.js';
export { mcpToolsCollection } from './record.js';
export { mcpAgreementsCollection } from './record/agreements.js';
export { mcpElicitationsCollection } from './record/elicitations.js';
export {
  mcpAuthorizationRequestsCollection,
  mcpAuthorizationsCollection,
  mcpOauthClientsCollection,
  mcpRevocationsCollection,
} from './record/authorizations.js';

const key = z.object({ connector_id: Id });

/** Reads the tools from the server, and lists them with the accepted ones. Suspends accepted tools that the server changed. */
export const listMcpTools = defineOperation({
  name: 'mcp-tool.list',
  ...reads,
  key,
  output: McpTools,
  errors: ['validation_failed', 'unconfigured', 'unavailable'],
  async run({ deps, ctx: { principal }, key: { connector_id } }) {
    const connector = await requireMcpConnector(deps.mongo.collections, principal, connector_id);
    return viewOf(deps, connector, await askForTools(deps, connector, principal.userId));
  },
});

/**
 * Pins the live definitions of the named tools. Throws `conflict` if they differ from those that the person read, and
 * `validation_failed` for a tool that cannot be accepted.
 */
export const acceptMcpTools = defineOperation({
  name: 'mcp-tool.accept',
  effect: 'write',
  grant: 'svc:skill.write',
  facts: textFacts('connector_id'),
  key,
  input: AcceptMcpTools,
  output: McpTools,
  errors: ['conflict', 'validation_failed', 'unconfigured', 'unavailable'],
  async run({ deps, ctx: { principal }, key: { connector_id }, input }) {
    const connector = await requireMcpConnector(deps.mongo.collections, principal, connector_id);
    const live = await askForTools(deps, connector, principal.userId);
    if (hashOfAll(live) !== input.hash)
      throw new AppError('conflict', 'the server changed its tools since they were read: read them again');
    await pin(deps, connector, chosenOf(live, input.tools), principal.userId);
    if (input.tools === 'all' && !isPersonal(openConfig(deps.auth.box, connector)))
      await deps.mongo.collections.mcp_tools.deleteMany({ connector_id, name: { $nin: live.map(({ name }) => name) } });
    return viewOf(deps, connector, live);
  },
});

/** The caller's own authorization, or that of the project. */
export const readMcpAuthorization = defineOperation({
  name: 'mcp-authorization.read',
  ...reads,
  key,
  output: McpAuthorization,
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, key: { connector_id } }) {
    const server = await requireOauthServer(deps, principal, connector_id);
    return authorizationView(server, await findAuthorization(deps, server, principal));
  },
});

const authorizationRules = { ...writes, facts: textFacts('connector_id'), key } as const;

/** Finds the authorization server and returns the address at which the person grants access. Throws as `readMcpAuthorization`. */
export const beginMcpAuthorization = defineOperation({
  ...authorizationRules,
  name: 'mcp-authorization.begin',
  output: McpAuthorizationAddress,
  errors: ['conflict', 'validation_failed', 'unavailable'],
  async run({ deps, ctx, key: { connector_id } }) {
    const server = await requireOauthServer(deps, ctx.principal, connector_id);
    requireOwner(server, ctx.principal);
    return beginAuthorization(deps, server, ctx);
  },
});

/** Takes the answer that the authorization server gave to the person. Throws `not_found` for a state of another person, or one that was used. */
export const completeMcpAuthorization = defineOperation({
  ...authorizationRules,
  name: 'mcp-authorization.complete',
  input: CompleteMcpAuthorization,
  output: McpAuthorization,
  errors: ['conflict', 'validation_failed', 'unavailable'],
  async run({ deps, ctx: { principal }, key: { connector_id }, input }) {
    const server = await requireOauthServer(deps, principal, connector_id);
    requireOwner(server, principal);
    return authorizationView(server, await completeAuthorization(deps, server, principal, input));
  },
});

export const withdrawMcpAuthorization = defineOperation({
  ...authorizationRules,
  name: 'mcp-authorization.withdraw',
  output: McpAuthorization,
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, key: { connector_id } }) {
    const server = await requireOauthServer(deps, principal, connector_id);
    requireOwner(server, principal);
    const { revocation } = await withdrawAuthorization(deps, server, principal);
    return { ...authorizationView(server, null), ...(revocation && { revocation }) };
  },
});

async function requireOauthServer({ mongo, auth }: Deps, principal: Principal, id: string): Promise<OauthServer> {
  return oauthServerOf(auth.box, await requireMcpConnector(mongo.collections, principal, id));
}

function authorizationView({ connector, url, auth }: OauthServer, found: McpAuthorizationDocument | null) {
  return toMcpAuthorization({ connector_id: connector._id, owner: auth.owner, server: url }, found);
}

async function requireMcpConnector(
  collections: Collections,
  principal: Principal,
  id: string,
): Promise<ConnectorDocument> {
  const connector = await requireConnector(collections, principal, id);
  if (connector.category !== 'mcp') throw notFound('the mcp connector');
  return connector;
}

async function viewOf({ mongo }: Deps, { _id }: ConnectorDocument, live: LiveTool[]) {
  const pinned = await mongo.collections.mcp_tools.find({ connector_id: _id }).toArray();
  return { connector_id: _id, hash: hashOfAll(live), tools: toMcpTools(live, pinned) };
}

/** The tools that are asked for: with `all`, those without problems, and otherwise all of them, or a refusal. */
function chosenOf(live: readonly LiveTool[], asked: 'all' | string[]): LiveTool[] {
  const problems = problemsOf(live);
  if (asked === 'all') return live.filter((_tool, at) => problems[at]?.length === 0);
  const names = asked;
  const missing = names.filter((name) => !live.some((each) => each.name === name));
  const refused = live.flatMap(({ name }, at) =>
    names.includes(name) ? (problems[at] ?? []).map((problem) => `${JSON.stringify(name)}: ${problem}`) : [],
  );
  const all = [...missing.map((name) => `${JSON.stringify(name)}: the server offers no such tool`), ...refused];
  if (all.length > 0) throw new AppError('validation_failed', `tools: ${all.slice(0, 20).join('; ')}`);
  return live.filter(({ name }) => names.includes(name));
}

async function pin(
  { mongo, auth }: Deps,
  connector: ConnectorDocument,
  tools: readonly LiveTool[],
  userId: string,
): Promise<void> {
  const definitions = tools.map(definitionOf);
  if (definitions.length === 0) return;
  const { url, command } = openConfig(auth.box, connector);
  const accepted = {
    connector_id: connector._id,
    projectID: connector.projectID,
    server: String(url ?? command),
    accepted_by: userId,
    accepted_at: epochSeconds(),
    suspended: null,
  };
  await mongo.collections.mcp_tools.bulkWrite(
    definitions.map((definition) => ({
      updateOne: {
        filter: { _id: mcpToolId(connector._id, definition.name) },
        update: {
          $set: { ...accepted, name: definition.name, definition: canonicalText(definition), hash: hashOf(definition) },
        },
        upsert: true,
      },
    })),
  );
}
