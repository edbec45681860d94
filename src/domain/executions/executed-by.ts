import type { Principal } from '../../auth/principal.js';
import { namesOf } from '../../auth/users.js';
import type { Deps } from '../deps.js';
import type { ExecutionDocument } from './record.js';

/** The creator of an execution, with the name of the key or user, or the user's email address. */
export async function executedBy(
  deps: Pick<Deps, 'mongo'>,
  principal: Pick<Principal, 'userId' | 'keyName'>,
  scheduleOf?: string,
): Promise<ExecutionDocument['executed_by']> {
  const name = scheduleOf === undefined ? await nameOf(deps, principal) : `schedule of ${scheduleOf}`;
  return {
    _id: principal.userId,
    metadata: null,
    name: name || principal.userId,
    type: scheduleOf === undefined ? 'manual' : 'schedule',
  };
}

async function nameOf(
  { mongo }: Pick<Deps, 'mongo'>,
  { userId, keyName }: Pick<Principal, 'userId' | 'keyName'>,
): Promise<string | undefined> {
  if (keyName !== undefined) return `key "${keyName}"`;
  return (await namesOf(mongo.collections, [userId])).get(userId);
}
