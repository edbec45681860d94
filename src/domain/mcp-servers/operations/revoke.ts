import { eachApart } from '../../../base/async.js';
import { recordServiceRun } from '../../../governance/service-record.js';
import { createMcpOauth } from '../../../outbound/mcp-oauth.js';
import { isOutboundError } from '../../../outbound/outbound-error.js';
import { epochSeconds } from '../../../base/time.js';
import type { Deps } from '../../deps.js';
import type { McpRevocationDocument } from '../record/authorizations.js';
import { openTokens } from './tokens.js';

export type Revocation = 'done' | 'failed' | 'not_supported';

export type RevocationDeps = Pick<Deps, 'mongo' | 'auth' | 'http' | 'governance' | 'log'>;

/** Some at a time, because an authorization server can take the whole time limit to answer. */
const atOnce = 20;
/** Longer than one attempt takes, so that no two processes make it. */
export const firstPauseSeconds = 60;
const longestPauseSeconds = 3600;
/** After this time, no access token is valid, and the failure is recorded as final. */
const patienceSeconds = 7 * 24 * 3600;

/** Revokes what was deleted here (RFC 7009). Any number of processes can sweep. */
export function createRevocationSweep(deps: RevocationDeps): () => Promise<void> {
  return async () => {
    for (;;) {
      const due = await deps.mongo.collections.mcp_revocations
        .find({ next_at: { $lte: epochSeconds() } })
        .sort({ next_at: 1 })
        .limit(atOnce)
        .toArray();
      if (due.length === 0) return;
      const failed = 'the tokens of an MCP server could not be revoked';
      const about = ({ _id, connector_id }: McpRevocationDocument) => ({ id: _id, connector_id });
      await eachApart(due, { log: deps.log, failed, about, atOnce }, (each) => revokeRetired(deps, each));
    }
  };
}

/** One attempt. After a failure that may pass, the sweep tries again. Undefined if another process attempts it now. */
export async function revokeRetired(
  deps: RevocationDeps,
  retired: McpRevocationDocument,
): Promise<Revocation | undefined> {
  const { mcp_revocations } = deps.mongo.collections;
  const { _id, next_at, attempts } = retired;
  const pause = Math.min(firstPauseSeconds * 2 ** attempts, longestPauseSeconds);
  const taken = await mcp_revocations.updateOne(
    { _id, next_at },
    { $set: { next_at: epochSeconds() + pause }, $inc: { attempts: 1 } },
  );
  if (taken.modifiedCount === 0) return undefined;
  const { revocation, detail, isFinal } = await attempt(deps, retired);
  if (!isFinal) {
    deps.log.warn({ connector_id: retired.connector_id, detail }, 'tokens of an MCP server could not be revoked yet');
    return revocation;
  }
  await record(deps, retired, { revocation, detail });
  await mcp_revocations.deleteOne({ _id });
  return revocation;
}

interface Attempt {
  revocation: Revocation;
  detail: string;
  isFinal: boolean;
}

async function attempt({ auth, http }: RevocationDeps, retired: McpRevocationDocument): Promise<Attempt> {
  const { authorization_id, server, sealed, retired_at } = retired;
  try {
    const { party, tokens } = openTokens(auth.box, { _id: authorization_id, server, sealed });
    const isRevoked = await createMcpOauth(http).revoke(party, tokens);
    return isRevoked
      ? { revocation: 'done', detail: 'the authorization server revoked the tokens', isFinal: true }
      : { revocation: 'not_supported', detail: 'the authorization server cannot revoke tokens', isFinal: true };
  } catch (error) {
    // What is not of the server, such as a missing key, can be different at another process.
    const mayPass = !isOutboundError(error) || error.retryable;
    const isFinal = !mayPass || retired_at + patienceSeconds < epochSeconds();
    const detail = error instanceof Error ? error.message : 'the tokens could not be revoked';
    return { revocation: 'failed', detail, isFinal };
  }
}

async function record(
  deps: RevocationDeps,
  { _id, project_id, connector_id, retired_at }: McpRevocationDocument,
  { revocation, detail }: Pick<Attempt, 'revocation' | 'detail'>,
): Promise<void> {
  const project = await deps.mongo.collections.projects.findOne(
    { _id: project_id },
    { projection: { organization_id: 1 } },
  );
  if (!project) return;
  const { organization_id } = project;
  await recordServiceRun(
    deps,
    'mcp-revocation',
    { lifecycle_id: _id, project_id, organization_id, resource: `connector:${connector_id}` },
    { failed: revocation !== 'done', detail, started_at: retired_at },
  );
}
