import { AppError } from '../errors.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import type { CountedLimit } from './plan.js';
import type { CountedRecords } from './records.js';

/** `_id` is `<organization>/<limit>`. A place is taken before its record is made. */
export interface CustomerPlacesDocument {
  _id: string;
  ids: { id: string; at: number }[];
}

/** A place without a record is given up after so many seconds: whoever took it has died on the way. */
const graceSeconds = 60;

export interface Places {
  reserve(organizationId: string, limit: CountedLimit, id: string, maximum: number): Promise<void>;
  release(organizationId: string, limit: CountedLimit, id: string): Promise<void>;
}

/** Places of counted limits: one document each, so that one conditional update admits exactly up to the maximum. */
export function createPlaces({ customer_places: places }: Pick<Collections, 'customer_places'>, records: CountedRecords): Places {
  const keyOf = (organizationId: string, limit: CountedLimit) => `${organizationId}/${limit}`;

  async function take(_id: string, id: string, maximum: number): Promise<boolean> {
    if (maximum === 0) return false;
    const hasRoom = { _id, 'ids.id': { $ne: id }, [`ids.${maximum - 1}`]: { $exists: false } };
    const { matchedCount } = await places.updateOne(hasRoom, { $push: { ids: { id, at: epochSeconds() } } });
    return matchedCount === 1;
  }

  /** A repeat of the request that took it: the place is young again, so that nobody gives it up meanwhile. */
  async function renew(_id: string, id: string): Promise<boolean> {
    return (await places.updateOne({ _id, 'ids.id': id }, { $set: { 'ids.$.at': epochSeconds() } })).matchedCount === 1;
  }

  /** Gives up the places whose records never came to be; tells whether there were any. */
  async function heal(organizationId: string, limit: CountedLimit, { _id, ids }: CustomerPlacesDocument): Promise<boolean> {
    const before = epochSeconds() - graceSeconds;
    const old = ids.filter(({ at }) => at < before).map(({ id }) => id);
    const present = new Set(await records.present(limit, organizationId, old));
    const lost = old.filter((id) => !present.has(id));
    if (lost.length > 0) await places.updateOne({ _id }, { $pull: { ids: { id: { $in: lost }, at: { $lt: before } } } });
    return lost.length > 0;
  }

  return {
    async reserve(organizationId, limit, id, maximum) {
      const _id = keyOf(organizationId, limit);
      for (;;) {
        if ((await take(_id, id, maximum)) || (await renew(_id, id))) return;
        const document = await places.findOne({ _id });
        if (!document) {
          const ids = (await records.all(limit, organizationId)).map((each) => ({ id: each, at: 0 }));
          await insertOnce(places, { _id, ids });
        } else if (document.ids.length >= maximum && !(await heal(organizationId, limit, document))) {
          throw planLimit(limit, maximum, document.ids.length);
        }
      }
    },
    async release(organizationId, limit, id) {
      await places.updateOne({ _id: keyOf(organizationId, limit) }, { $pull: { ids: { id } } });
    },
  };
}

/** 403 (contract, Conventions). */
export function planLimit(limit: string, maximum: number, use: number, unit = ''): AppError {
  return new AppError('plan_limit', `${limit}: the plan allows ${maximum}${unit}, ${use}${unit} are in use`);
}
