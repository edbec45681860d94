import { defineCollection, type Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { epochSeconds } from '../../base/time.js';
import { planLimit, type CountedLimit } from './rules.js';
import type { CountedRecords } from './records.js';

/** The reserved places of a limit. `_id` is `<organization id>/<limit>`. A place is reserved before its record is created. */
interface CustomerPlacesDocument {
  _id: string;
  ids: { id: string; at: number }[];
}

/** After this time, a place without a record is released: the process that reserved it has crashed. */
const graceSeconds = 60;

/** Each limit is one document, so that a conditional update never admits more than the maximum. */
export function createReservations(
  { customer_places: places }: Pick<Collections, 'customer_places'>,
  records: CountedRecords,
) {
  const keyOf = (organizationId: string, limit: CountedLimit) => `${organizationId}/${limit}`;

  async function take(_id: string, id: string, maximum: number): Promise<boolean> {
    if (maximum === 0) return false;
    const hasRoom = { _id, 'ids.id': { $ne: id }, [`ids.${maximum - 1}`]: { $exists: false } };
    const { matchedCount } = await places.updateOne(hasRoom, { $push: { ids: { id, at: epochSeconds() } } });
    return matchedCount === 1;
  }

  /** For a repeated request: restarts the grace period, so that the place is not released in the meantime. */
  async function renew(_id: string, id: string): Promise<boolean> {
    return (await places.updateOne({ _id, 'ids.id': id }, { $set: { 'ids.$.at': epochSeconds() } })).matchedCount === 1;
  }

  /** Releases places whose records were never created. @returns whether there were any */
  async function releaseAbandoned(
    organizationId: string,
    limit: CountedLimit,
    { _id, ids }: CustomerPlacesDocument,
  ): Promise<boolean> {
    const before = epochSeconds() - graceSeconds;
    const old = ids.filter(({ at }) => at < before).map(({ id }) => id);
    const present = new Set(await records.present(limit, organizationId, old));
    const lost = old.filter((id) => !present.has(id));
    if (lost.length > 0)
      await places.updateOne({ _id }, { $pull: { ids: { id: { $in: lost }, at: { $lt: before } } } });
    return lost.length > 0;
  }

  return {
    async reserve(organizationId: string, limit: CountedLimit, id: string, maximum: number): Promise<void> {
      const _id = keyOf(organizationId, limit);
      for (;;) {
        if ((await take(_id, id, maximum)) || (await renew(_id, id))) return;
        const document = await places.findOne({ _id });
        if (!document) {
          const ids = (await records.all(limit, organizationId)).map((each) => ({ id: each, at: 0 }));
          await insertOnce(places, { _id, ids });
        } else if (document.ids.length >= maximum && !(await releaseAbandoned(organizationId, limit, document))) {
          throw planLimit(limit, maximum, document.ids.length);
        }
      }
    },
    async release(organizationId: string, limit: CountedLimit, id: string): Promise<void> {
      await places.updateOne({ _id: keyOf(organizationId, limit) }, { $pull: { ids: { id } } });
    },
  };
}

export const customerPlacesCollection = defineCollection('customer_places', { majorityRead: true });

declare module '../../stores/collections.js' {
  interface Documents {
    customer_places: CustomerPlacesDocument;
  }
}
