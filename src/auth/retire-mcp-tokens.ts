import type { Filter } from 'mongodb';
import type { Collections, Documents } from '../stores/collections.js';
import { epochSeconds } from '../base/time.js';

type Tokens = Pick<Collections, 'mcp_authorizations' | 'mcp_revocations'>;
type Authorization = Documents['mcp_authorizations'];
type Retired = Pick<Authorization, '_id' | 'connector_id' | 'project_id' | 'server' | 'sealed' | 'revision'>;

const atOnce = 200;

/**
 * Deletes tokens for MCP servers. `mcp_revocations` keeps them, still sealed, until their authorization server has
 * revoked them. Calls do not use tokens of that collection. Safe to repeat.
 * @param inSeconds the time until the sweep begins to revoke them
 * @returns the ids of the pending revocations
 */
export async function retireMcpTokens(
  collections: Tokens,
  filter: Filter<Authorization>,
  inSeconds = 0,
): Promise<string[]> {
  const ids = new Set<string>();
  for (;;) {
    const found = await collections.mcp_authorizations.find(filter).limit(atOnce).toArray();
    if (found.length === 0) return [...ids];
    await keepForRevocation(collections, found, inSeconds);
    for (const { revision } of found) ids.add(revision);
    // A refresh may have replaced tokens in the meantime. The next pass then finds the new ones.
    await collections.mcp_authorizations.bulkWrite(
      found.map(({ _id, revision }) => ({ deleteOne: { filter: { _id, revision } } })),
    );
  }
}

export async function keepForRevocation(
  { mcp_revocations }: Pick<Tokens, 'mcp_revocations'>,
  retired: readonly Retired[],
  inSeconds = 0,
): Promise<void> {
  const now = epochSeconds();
  await mcp_revocations.bulkWrite(
    retired.map(({ _id: authorization_id, connector_id, project_id, server, sealed, revision }) => ({
      updateOne: {
        filter: { _id: revision },
        update: {
          $setOnInsert: {
            ...{ authorization_id, connector_id, project_id, server, sealed },
            ...{ retired_at: now, attempts: 0, next_at: now + inSeconds },
          },
        },
        upsert: true,
      },
    })),
  );
}
