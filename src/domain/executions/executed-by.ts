import type { Principal } from '../../auth/principal.js';
import { namesOf } from '../../auth/users.js';
import type { Deps } from '../deps.js';
import type { ExecutionDocument } from './record.js';

/** The creator of an execution, with the name of the key or user, or the user's email address. */
export async function executedBy(
  deps: Pick<Deps, 'mongo'>,
  principal: Pick<Principal, 'userId' | 'keyId'>,
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
  { userId, keyId }: Pick<Principal, 'userId' | 'keyId'>,
): Promise<string | undefined> {
  const { api_keys } = mongo.collections;
  const key = keyId === undefined ? null : await api_keys.findOne({ id: keyId }, { projection: { name: 1 } });
  return key ? `key "${key.name}"` : (await namesOf(mongo.collections, [userId])).get(userId);
}
