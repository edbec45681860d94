import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Deps } from '../../src/domain/deps.js';
import type { Workspace } from './fixture.js';

interface SentRequest {
  workspace: Pick<Workspace, 'projectID' | 'userId'>;
  /** The route as it was requested, such as `post /execute_flow/1/execute`, without a query. */
  route: string;
  key: string;
}

/** Makes the stored answer of a request with an Idempotency-Key look as if its process had died before it answered. */
export async function loseAnswer({ mongo }: Deps, { workspace, route, key }: SentRequest): Promise<void> {
  const scope = JSON.stringify([workspace.projectID, workspace.userId, route, key]);
  const { modifiedCount } = await mongo.collections.idempotency.updateOne(
    { _id: createHash('sha256').update(scope).digest('hex'), answer: { $ne: null } },
    { $set: { answer: null, leased_until: new Date(0) } },
  );
  expect(modifiedCount).toBe(1);
}
