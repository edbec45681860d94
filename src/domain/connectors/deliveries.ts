import { newId } from '../../base/ids.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';

const dayMs = 24 * 3600 * 1000;

/** `_id` consists of the receiver and the identity of the delivery, so that a repeated delivery is not processed again. */
interface CallbackDeliveryDocument {
  _id: string;
  /** The callback id that all copies of an event share. Absent on deliveries that were not claimed. */
  callback_id?: string;
  /** False from the claim until Temporal has accepted the callback. */
  handed_over?: boolean;
  expires_at: Date;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries({ callback_deliveries: collection }: Pick<Collections, 'callback_deliveries'>) {
  /** Deletes an expired document itself, because the server does so only periodically. */
  async function insertOrRead(record: CallbackDeliveryDocument): Promise<CallbackDeliveryDocument> {
    const present = await insertOnce(collection, record);
    if (present.expires_at.getTime() > Date.now()) return present;
    await collection.deleteOne({ _id: record._id, expires_at: present.expires_at });
    return insertOrRead(record);
  }

  return {
    async seen(id: string): Promise<boolean> {
      const found = await collection.findOne({ _id: id });
      return found !== null && found.handed_over !== false && found.expires_at.getTime() > Date.now();
    },
    /** Call this after the hand-over: a crash between the two must not lose the delivery. */
    async remember(id: string): Promise<void> {
      const present = await insertOrRead({ _id: id, handed_over: true, expires_at: new Date(Date.now() + dayMs) });
      if (present.handed_over === false) await collection.updateOne({ _id: id }, { $set: { handed_over: true } });
    },
    /** All copies of a delivery get the callback id of the first one. */
    async claim(id: string, keptForMs = dayMs): Promise<{ callback_id: string; isHandedOver: boolean }> {
      const { callback_id, handed_over } = await insertOrRead({
        _id: id,
        callback_id: newId(),
        handed_over: false,
        expires_at: new Date(Date.now() + keptForMs),
      });
      return { callback_id: callback_id ?? id, isHandedOver: handed_over !== false };
    },
  };
}

export const callbackDeliveriesCollection = defineCollection('callback_deliveries', { indexes: [expiring] });

declare module '../../stores/collections.js' {
  interface Documents {
    callback_deliveries: CallbackDeliveryDocument;
  }
}
