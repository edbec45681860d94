import type { Principal } from '../../../auth/principal.js';
import type { Collections } from '../../../stores/collections.js';

/**
 * Records that somebody edits what a run does or answers its question. Call it before the edit takes effect. It does not bar
 * them from deciding, unlike `caused_by`, but the run then uses no personal account of somebody else.
 */
export async function noteShaper(
  { executions }: Pick<Collections, 'executions'>,
  { userId }: Pick<Principal, 'userId'>,
  executionId: string,
): Promise<void> {
  await executions.updateOne(
    { _id: executionId, 'executed_by._id': { $ne: userId } },
    { $addToSet: { shaped_by: userId } },
  );
}
