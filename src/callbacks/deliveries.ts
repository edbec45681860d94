import type { Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/mongo.js';

const keptForMs = 24 * 3600 * 1000;

/** `_id` is the receiver and the sender's delivery id: what was handed over, so that a repeat is not (issue 6). */
export interface CallbackDeliveryDocument {
  _id: string;
  expires_at: Date;
}

export interface Deliveries {
  seen(id: string): Promise<boolean>;
  /** Only after the hand-over: before, a crash between the two would lose the delivery. */
  remember(id: string): Promise<void>;
}

export function createDeliveries({ callback_deliveries: collection }: Pick<Collections, 'callback_deliveries'>): Deliveries {
  return {
    async seen(id) {
      const found = await collection.findOne({ _id: id });
      return found !== null && found.expires_at.getTime() > Date.now();
    },
    async remember(id) {
      const expires_at = new Date(Date.now() + keptForMs);
      const present = await insertOnce(collection, { _id: id, expires_at });
      // The server deletes expired documents only from time to time.
      if (present.expires_at.getTime() <= Date.now()) await collection.updateOne({ _id: id }, { $set: { expires_at } });
    },
  };
}
