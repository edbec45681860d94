import type { Principal } from '../../auth/principal.js';
import { namesOf } from '../../auth/users.js';
import type { Deps } from '../deps.js';
import type { ExecutionDocument } from './record.js';

/** The creator of an execution, with the name of the key or user, or the user's email address. */
export async function executedBy(
  { mongo }: Pick<Deps, 'mongo'>,
  { userId, keyName }: Pick<Principal, 'userId' | 'keyName'>,
  scheduleOf?: string,
): Promise<ExecutionDocument['executed_by']> {
  const fields = { _id: userId, metadata: null };
  if (scheduleOf !== undefined) return { ...fields, name: `schedule of ${scheduleOf}`, type: 'schedule' };
  const name = keyName === undefined ? (await namesOf(mongo.collections, [userId])).get(userId) : `key "${keyName}"`;
  return { ...fields, name: name || userId, type: 'manual' };
}
