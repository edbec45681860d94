import { setTimeout as delay } from 'node:timers/promises';
import type { SecretBox } from '../../../auth/secret-box.js';
import { keepForRevocation } from '../../../auth/retire-mcp-tokens.js';
import { AppError } from '../../../base/errors.js';
import { newId } from '../../../base/ids.js';
import { isClientRefused, type McpOauth } from '../../../outbound/mcp-oauth.js';
import type { OauthTokens } from '../../../outbound/mcp-oauth-types.js';
import { isOutboundError, OutboundError } from '../../../outbound/outbound-error.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../base/time.js';
import { unionOfScopes } from '../rules/scopes.js';
import {
  authorizationId,
  ownRegistrations,
  type McpAuthorizationDocument,
  type SealedTokens,
  type TokenOwner,
} from '../record/authorizations.js';

/** Whose token a call carries, and the only server that may receive it. `userId` is the person on whose behalf it is made. */
export interface TokenFor {
  connectorId: string;
  projectId: string;
  server: string;
  owner: TokenOwner;
  userId: string | undefined;
}

interface TokenDeps {
  collections: Pick<Collections, 'mcp_authorizations' | 'mcp_revocations' | 'mcp_oauth_clients'>;
  box: Pick<SecretBox, 'seal' | 'open'>;
  oauth: Pick<McpOauth, 'refresh'>;
}

/** Tokens are refreshed this long before they expire, or at the last tenth of their lifetime if that is shorter. */
const earlySeconds = 30;
/** Longer than a holder of the lease tries: three times the time limit of a refresh. */
const leaseSeconds = 65;
const waitSeconds = 70;
const pollMs = 200;
const attempts = 3;
const pauseMs = 300;
/** For this time, waiting calls receive the failure of the holder instead of trying again. */
const failedSeconds = 2;

export type McpTokens = ReturnType<typeof createMcpTokens>;

export function createMcpTokens(deps: TokenDeps) {
  return {
    /**
     * An access token that is not the `refused` one, which the server answered with 401.
     * @throws OutboundError `authorization_needed` if a person must authorize (again), `action_unavailable`; AppError
     *   `unconfigured` if this process does not have the encryption key
     */
    async tokenFor(of: TokenFor, refused?: string): Promise<string> {
      const found = await find(deps, of);
      const { tokens } = openTokens(deps.box, found);
      const isStale = found.valid_until !== null && found.valid_until <= epochSeconds();
      if (tokens.access_token !== refused && !isStale && !expiresSoon(found)) return tokens.access_token;
      try {
        return openTokens(deps.box, await refreshOrWait(deps, of, found)).tokens.access_token;
      } catch (error) {
        // A token that was only to be refreshed early still works.
        const isUsable = tokens.access_token !== refused && !isStale;
        if (isUsable && isOutboundError(error) && error.retryable) return tokens.access_token;
        throw error;
      }
    },
    /** Keeps a scope that a call needed, so that the next authorization requests it with the others. */
    async needScope({ connectorId, server, owner, userId }: TokenFor, scope: string): Promise<void> {
      const _id = authorizationId(connectorId, owner, userId ?? '');
      const found = await deps.collections.mcp_authorizations.findOne({ _id, server });
      const needed_scope = unionOfScopes(found?.scope ?? undefined, found?.needed_scope ?? undefined, scope);
      if (found && needed_scope !== undefined)
        await deps.collections.mcp_authorizations.updateOne({ _id, server }, { $set: { needed_scope } });
    },
  };
}

function expiresSoon({ refresh_at, lease }: McpAuthorizationDocument): boolean {
  // Another process is refreshing the token.
  const isLeased = lease !== null && lease.until > epochSeconds();
  return refresh_at !== null && !isLeased && refresh_at <= epochSeconds();
}

function purposeOf(id: string, server: string): string {
  return `mcp-tokens/${JSON.stringify([id, server])}`;
}

type FixedField =
  '_id' | 'connector_id' | 'project_id' | 'user_id' | 'owner' | 'server' | 'authorized_at' | 'needed_scope';

/** The fields that change with the tokens. */
export function tokenFields(
  box: Pick<SecretBox, 'seal'>,
  { _id, server }: Pick<McpAuthorizationDocument, '_id' | 'server'>,
  { party, tokens }: SealedTokens,
): Omit<McpAuthorizationDocument, FixedField> {
  const { expires_in = null, refresh_token, scope } = tokens;
  const validUntil = expires_in === null ? null : epochSeconds() + expires_in;
  const isRefreshed = refresh_token !== undefined && validUntil !== null;
  return {
    sealed: box.seal(JSON.stringify({ party, tokens }), purposeOf(_id, server)),
    valid_until: validUntil,
    refresh_at: isRefreshed ? validUntil - Math.min(earlySeconds, (expires_in ?? 0) / 10) : null,
    scope: scope ?? party.issuer.scope ?? null,
    revision: newId(),
    lease: null,
    ended: null,
  };
}

export function openTokens(
  box: Pick<SecretBox, 'open'>,
  { _id, server, sealed }: Pick<McpAuthorizationDocument, '_id' | 'server' | 'sealed'>,
): SealedTokens {
  let text: string;
  try {
    text = box.open(sealed, purposeOf(_id, server));
  } catch {
    throw new AppError('unconfigured', 'the tokens cannot be decrypted with the SECRETS_KEY of this process');
  }
  return JSON.parse(text) as SealedTokens;
}

async function find({ collections }: TokenDeps, of: TokenFor): Promise<McpAuthorizationDocument> {
  const { connectorId, projectId, owner, userId, server } = of;
  if (owner === 'person' && userId === undefined) throw needed(of, 'the call is made on behalf of nobody');
  const found = await collections.mcp_authorizations.findOne({
    _id: authorizationId(connectorId, owner, userId ?? ''),
  });
  if (found?.project_id !== projectId)
    throw needed(of, owner === 'person' ? 'the person has not authorized it' : 'nobody has authorized it');
  if (found.server !== server) throw needed(of, 'it was authorized for another address of the server');
  if (found.ended) throw needed(of, found.ended.reason);
  return found;
}

function needed({ projectId, connectorId, owner }: TokenFor, why: string): OutboundError {
  const who = owner === 'person' ? 'the person on whose behalf it is called' : 'a person';
  return new OutboundError(
    'authorization_needed',
    `the MCP server needs an authorization (${why}): ${who} must open the address that POST /connectors/${projectId}/${connectorId}/authorize returns`,
  );
}

/** Refreshes the tokens, or waits for the process that is refreshing them. */
async function refreshOrWait(
  deps: TokenDeps,
  of: TokenFor,
  seen: McpAuthorizationDocument,
): Promise<Pick<McpAuthorizationDocument, '_id' | 'server' | 'sealed'>> {
  const { refresh_token } = openTokens(deps.box, seen).tokens;
  const { _id, revision } = seen;
  if (refresh_token === undefined) {
    const ended = { at: epochSeconds(), reason: 'its token is no longer valid, and there is no refresh token' };
    await deps.collections.mcp_authorizations.updateOne({ _id, revision }, { $set: { ended } });
    return find(deps, of);
  }
  const began = epochSeconds();
  for (;;) {
    const lease = { id: newId(), until: epochSeconds() + leaseSeconds };
    const free = { _id, revision, ended: null, $or: [{ lease: null }, { 'lease.until': { $lt: epochSeconds() } }] };
    const taken = await deps.collections.mcp_authorizations.findOneAndUpdate(free, { $set: { lease } });
    // A holder that failed records this. One that died without a record may have lost new tokens.
    const isAfterDeath = taken?.lease != null && taken.lease.failed === undefined;
    const renewal = taken && (await refresh(deps, of, seen, { leaseId: lease.id, refresh_token, isAfterDeath }));
    if (renewal) return renewal;
    const now = await find(deps, of);
    if (now.revision !== revision) return now;
    if (now.lease?.failed !== undefined) throw new OutboundError('action_unavailable', now.lease.failed);
    if (epochSeconds() - began > waitSeconds)
      throw new OutboundError('action_unavailable', 'another process did not refresh the token in time');
    await delay(pollMs);
  }
}

interface Holder {
  leaseId: string;
  refresh_token: string;
  /** The lease expired without its holder having recorded an outcome. */
  isAfterDeath: boolean;
}

/**
 * Nothing aborts it, because a refresh token that rotates would be lost with the answer. If the answer is lost, it repeats
 * the request with the same refresh token, which servers with a grace period accept.
 * @returns undefined if the server refused it after another process had taken the lease, whose answer applies
 */
async function refresh(
  deps: TokenDeps,
  of: TokenFor,
  seen: McpAuthorizationDocument,
  { leaseId, refresh_token, isAfterDeath }: Holder,
): Promise<Pick<McpAuthorizationDocument, '_id' | 'server' | 'sealed'> | undefined> {
  const { mcp_authorizations } = deps.collections;
  const { _id, revision, server } = seen;
  const { party } = openTokens(deps.box, seen);
  const held = { _id, revision, 'lease.id': leaseId };
  let answer: OauthTokens | { refused: string };
  try {
    answer = await withRetries(() => deps.oauth.refresh(party, refresh_token));
  } catch (error) {
    const failed = isOutboundError(error) ? error.message : 'the token could not be refreshed';
    const lease = { id: newId(), until: epochSeconds() + failedSeconds, failed };
    await mcp_authorizations.updateOne(held, { $set: { lease } });
    throw error;
  }
  if ('refused' in answer) {
    if (isClientRefused(answer)) await forgetClients(deps.collections, of.connectorId);
    const reason = isAfterDeath
      ? `a process ended before it stored refreshed tokens, and the authorization server does not accept the earlier ones: ${answer.refused}`
      : `the authorization server ended it: ${answer.refused}`;
    const ended = { at: epochSeconds(), reason };
    const { matchedCount } = await mcp_authorizations.updateOne(held, { $set: { ended, lease: null } });
    // A person may have authorized the connector again in the meantime.
    return matchedCount === 0 ? undefined : find(deps, of);
  }
  const tokens = { ...answer, refresh_token: answer.refresh_token ?? refresh_token };
  const fields = tokenFields(deps.box, seen, { party, tokens });
  // The condition is the revision only, because a holder that lost its lease still has the newest tokens.
  const { matchedCount } = await storeWithRetries(() =>
    mcp_authorizations.updateOne({ _id, revision }, { $set: fields }),
  );
  if (matchedCount === 1) return { _id, server, sealed: fields.sealed };
  // The authorization was deleted in the meantime, so the new tokens are revoked as well.
  if (!(await mcp_authorizations.findOne({ _id }))) await keepForRevocation(deps.collections, [{ ...seen, ...fields }]);
  return undefined;
}

/** The next authorization registers a client again. Tokens keep the client for which they were issued. */
export async function forgetClients(
  { mcp_oauth_clients }: Pick<Collections, 'mcp_oauth_clients'>,
  connector_id: string,
): Promise<void> {
  await mcp_oauth_clients.deleteMany(ownRegistrations(connector_id));
}

/** Retries for as long as other calls wait, because the new tokens exist only in this process until they are stored. */
async function storeWithRetries<T>(write: () => Promise<T>): Promise<T> {
  const until = epochSeconds() + leaseSeconds;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (epochSeconds() > until) throw error;
      await delay(pollMs);
    }
  }
}

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let left = attempts - 1; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isOutboundError(error) || !error.retryable) throw error;
      await delay(pauseMs);
    }
  }
}
