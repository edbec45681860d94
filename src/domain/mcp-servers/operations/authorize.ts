import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { isFormerMember } from '../../../auth/former-members.js';
import { holdsGrant, type Principal } from '../../../auth/principal.js';
import { retireMcpTokens } from '../../../auth/retire-mcp-tokens.js';
import type { SecretBox } from '../../../auth/secret-box.js';
import { AppError, notFound } from '../../../base/errors.js';
import { createMcpOauth, isClientRefused } from '../../../outbound/mcp-oauth.js';
import type { IssuerAndClient, OauthClient, OauthTokens, TokenIssuer } from '../../../outbound/mcp-oauth-types.js';
import { isOutboundError } from '../../../outbound/outbound-error.js';
import { sha256Hex } from '../../../base/hash.js';
import { epochSeconds } from '../../../base/time.js';
import { findConnector, openConfig } from '../../connectors/operations/store.js';
import type { ConnectorDocument } from '../../connectors/record.js';
import { McpConfig, type OauthAuth } from '../../connectors/rules/config.js';
import type { Deps } from '../../deps.js';
import {
  authorizationId,
  type McpAuthorizationDocument,
  type McpAuthorizationRequestDocument,
  type SealedRequest,
} from '../record/authorizations.js';
import { clientDocument } from '../rules/client-document.js';
import { unionOfScopes } from '../rules/scopes.js';
import type { CompleteMcpAuthorization } from '../schemas.js';
import { preRegistered } from './pre-registered.js';
import { firstPauseSeconds, revokeRetired, type Revocation, type RevocationDeps } from './revoke.js';
import { forgetClients, tokenFields } from './tokens.js';

/** How long a person has to answer at the authorization server. */
const requestSeconds = 900;

type AuthorizeDeps = Pick<Deps, 'mongo' | 'auth' | 'http'>;

export interface OauthServer {
  connector: ConnectorDocument;
  url: string;
  auth: OauthAuth;
}

/** @throws AppError `conflict` if the connector does not use OAuth */
export function oauthServerOf(box: SecretBox, connector: ConnectorDocument): OauthServer {
  const { url, auth } = McpConfig.safeParse(openConfig(box, connector)).data ?? {};
  if (url === undefined || auth?.type !== 'oauth')
    throw new AppError('conflict', 'the connector does not use OAuth: its auth.type is not oauth');
  return { connector, url, auth };
}

/** The tokens of a project serve everybody in it, so changing them requires the same grant as creating the connector. */
export function requireOwner({ auth: { owner } }: OauthServer, principal: Principal): void {
  if (owner === 'project' && !holdsGrant(principal, 'svc:skill.write'))
    throw new AppError('access_denied', 'an authorization for the whole project needs the grant svc:skill.write');
}

export function findAuthorization(
  { mongo: { collections } }: Pick<Deps, 'mongo'>,
  { connector, auth: { owner } }: OauthServer,
  { userId }: Principal,
): Promise<McpAuthorizationDocument | null> {
  return collections.mcp_authorizations.findOne({ _id: authorizationId(connector._id, owner, userId) });
}

/** @returns where the person grants access, and until when (epoch seconds) */
export async function beginAuthorization(
  deps: AuthorizeDeps,
  oauthServer: OauthServer,
  { principal, baseUrl }: { principal: Principal; baseUrl: string },
): Promise<{ authorization_url: string; scope: string | null; expires_at: number }> {
  const { connector, url: server, auth } = oauthServer;
  const { owner, issuer: knownIssuer } = auth;
  const { box } = deps.auth;
  const { collections } = deps.mongo;
  const document = clientDocument(baseUrl);
  const [redirectUri = ''] = document.redirect_uris;
  const begunBefore = { connector_id: connector._id, user_id: principal.userId };
  // The authorization server may have lost the registration: it shows that to the person, who then never returns.
  if (await collections.mcp_authorization_requests.findOne(begunBefore))
    await forgetClients(collections, connector._id);
  const state = randomBytes(32).toString('base64url');
  const {
    url,
    scope = null,
    sealed,
  } = await mapOutboundErrors(async () => {
    const oauth = createMcpOauth(deps.http);
    const found = await oauth.discover(server, { scope: auth.scope, issuer: knownIssuer });
    const before = await findAuthorization(deps, oauthServer, principal);
    // A scope that a call needed is requested with the others, so that the new access replaces none (MCP, step-up).
    const needed = before?.server === server ? before.needed_scope : undefined;
    const issuer = { ...found, scope: unionOfScopes(found.scope, needed ?? undefined) };
    const client =
      (await preRegistered(deps.mongo, { connectorId: connector._id, url: server, auth }, issuer)) ??
      (await clientFor(deps, connector._id, issuer, redirectUri, () => oauth.clientAt(issuer, document)));
    const party = { issuer, client };
    const begun = await oauth.begin(party, { redirectUri, state });
    const request: SealedRequest = { party, verifier: begun.verifier, redirectUri };
    return {
      url: begun.url,
      scope: issuer.scope,
      sealed: box.seal(JSON.stringify(request), requestPurpose(sha256Hex(state))),
    };
  });
  const expires_at = epochSeconds() + requestSeconds;
  await collections.mcp_authorization_requests.insertOne({
    _id: sha256Hex(state),
    connector_id: connector._id,
    project_id: connector.projectID,
    user_id: principal.userId,
    ...{ owner, server, sealed },
    expires_at: new Date(expires_at * 1000),
  });
  return { authorization_url: url, scope, expires_at };
}

const requestPurpose = (id: string) => `mcp-authorization/${id}`;

/** One registration serves all people of the connector, until it expires or the server forgets it. */
async function clientFor(
  { mongo: { collections }, auth: { box } }: AuthorizeDeps,
  connectorId: string,
  { metadata: { issuer } }: TokenIssuer,
  redirectUri: string,
  obtain: () => Promise<OauthClient>,
): Promise<OauthClient> {
  const _id = `${connectorId}/${sha256Hex(JSON.stringify([issuer, redirectUri]))}`;
  const purpose = `mcp-oauth-client/${_id}`;
  const known = await collections.mcp_oauth_clients.findOne({ _id });
  if (known) {
    const client = JSON.parse(box.open(known.sealed, purpose)) as OauthClient;
    const { client_secret_expires_at: until = 0 } = client;
    if (until === 0 || until > epochSeconds() + requestSeconds) return client;
  }
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = await obtain();
  const client: OauthClient = { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method };
  const sealed = box.seal(JSON.stringify(client), purpose);
  await collections.mcp_oauth_clients.updateOne(
    { _id },
    { $set: { connector_id: connectorId, sealed } },
    { upsert: true },
  );
  return client;
}

/** The request of the person who returns, if it is theirs and unused. */
export async function findRequest(
  { mongo: { collections } }: Pick<Deps, 'mongo'>,
  state: string,
  userId: string,
): Promise<McpAuthorizationRequestDocument | undefined> {
  const found = await collections.mcp_authorization_requests.findOne({ _id: sha256Hex(state) });
  return found?.user_id === userId ? found : undefined;
}

/** Consumes the request, and exchanges the code for tokens. */
export async function completeAuthorization(
  deps: AuthorizeDeps,
  { connector, url, auth: { owner } }: OauthServer,
  principal: Principal,
  { state, code, iss, error }: z.infer<typeof CompleteMcpAuthorization>,
): Promise<McpAuthorizationDocument> {
  const _id = sha256Hex(state);
  const { projectId: project_id, userId: user_id } = principal;
  const asked = { _id, connector_id: connector._id, project_id, user_id };
  const request = await deps.mongo.collections.mcp_authorization_requests.findOneAndDelete(asked);
  if (!request || request.expires_at.getTime() < Date.now())
    throw notFound('an open authorization with this state, begun by this person for this connector,');
  if (request.server !== url || request.owner !== owner)
    throw new AppError('conflict', 'the connector changed in the meantime: begin the authorization again');
  if (error !== undefined || code === undefined)
    throw new AppError('validation_failed', `the authorization server granted no access: ${error ?? 'no code'}`);
  const opened = JSON.parse(deps.auth.box.open(request.sealed, requestPurpose(_id))) as SealedRequest;
  const { party, verifier, redirectUri } = opened;
  const tokens = await mapOutboundErrors(() =>
    createMcpOauth(deps.http).exchange(party, { code, iss, verifier, redirectUri }),
  );
  if ('refused' in tokens) {
    if (isClientRefused(tokens)) await forgetClients(deps.mongo.collections, connector._id);
    throw new AppError('validation_failed', `the authorization server of the MCP server refused: ${tokens.refused}`);
  }
  return store(deps, request, party, tokens);
}

async function store(
  { mongo: { collections }, auth: { box } }: AuthorizeDeps,
  { connector_id, project_id, user_id, owner, server }: McpAuthorizationRequestDocument,
  party: IssuerAndClient,
  tokens: OauthTokens,
): Promise<McpAuthorizationDocument> {
  const _id = authorizationId(connector_id, owner, user_id);
  const before = await collections.mcp_authorizations.findOne({ _id });
  const record: McpAuthorizationDocument = {
    ...{ _id, connector_id, project_id, user_id, owner, server },
    ...tokenFields(box, { _id, server }, { party, tokens }),
    authorized_at: epochSeconds(),
    ...(before?.server === server && { needed_scope: before.needed_scope ?? null }),
  };
  await collections.mcp_authorizations.replaceOne({ _id }, record, { upsert: true });
  // If the connector was deleted while the server answered, no tokens are stored.
  const connector = await findConnector(collections, connector_id);
  const member = { userId: user_id, projectId: project_id, organizationId: connector?.organization_id ?? '' };
  if (connector && !(await isFormerMember(collections, member))) return record;
  await retireMcpTokens(collections, { _id });
  throw notFound('the connector');
}

/**
 * Deletes the tokens, and then revokes them at the authorization server. If the server does not answer, a sweep tries again.
 * @returns undefined if there were no tokens
 */
export async function withdrawAuthorization(
  deps: RevocationDeps,
  { connector, auth: { owner } }: OauthServer,
  { userId }: Principal,
): Promise<{ revocation?: Revocation }> {
  const { collections } = deps.mongo;
  const _id = authorizationId(connector._id, owner, userId);
  const ids = await retireMcpTokens(collections, { _id }, firstPauseSeconds);
  const retired = await collections.mcp_revocations.find({ _id: { $in: ids } }).toArray();
  const done = await Promise.all(retired.map((each) => revokeRetired(deps, each)));
  return ids.length === 0 ? {} : { revocation: done.at(-1) ?? 'failed' };
}

/** @throws AppError `validation_failed` if the servers refuse or cannot be used, `unavailable` */
async function mapOutboundErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOutboundError(error)) throw error;
    throw new AppError(error.retryable ? 'unavailable' : 'validation_failed', error.message);
  }
}
