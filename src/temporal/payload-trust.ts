import { isDuplicateKey, type Mongo } from '../stores/mongo.js';
import { defineCollection } from '../stores/collections.js';

/** The keys of an installation. There is one document. */
interface PayloadTrustDocument {
  _id: 'payloads';
  /** The ids of all keys that `SECRETS_KEY` has contained. */
  key_ids: string[];
}

export const payloadTrustCollection = defineCollection('payload_trust', {});

declare module '../stores/collections.js' {
  interface Documents {
    payload_trust: PayloadTrustDocument;
  }
}

const _id = 'payloads';

export type PayloadTrust = ReturnType<typeof createPayloadTrust>;

/** What a worker needs to know to decide about payloads (decision 0009). */
export function createPayloadTrust({
  mongo,
  keyIds,
}: {
  mongo: Pick<Mongo, 'collections'>;
  keyIds: readonly string[];
}) {
  let stored: PayloadTrustDocument | undefined;

  /** Records the keys of this process. */
  async function begin(): Promise<void> {
    const { payload_trust } = mongo.collections;
    const change = { $addToSet: { key_ids: { $each: [...keyIds] } } };
    // Of two processes that start together, one inserts the document.
    await payload_trust.updateOne({ _id }, change, { upsert: true }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return payload_trust.updateOne({ _id }, change);
    });
  }

  return {
    begin,
    /** Whether a process of this installation has ever had the key. */
    async isOwnKey(keyId: string): Promise<boolean> {
      if (stored?.key_ids.includes(keyId)) return true;
      stored = (await mongo.collections.payload_trust.findOne({ _id })) ?? undefined;
      return stored?.key_ids.includes(keyId) === true;
    },
  };
}
