import { isDuplicateKey, type Mongo } from '../stores/mongo.js';
import { defineCollection } from '../stores/collections.js';
import { epochSeconds } from '../time.js';

/** What the workers of an installation accept. There is one document. */
interface PayloadTrustDocument {
  _id: 'payloads';
  /** Workflows accept payloads of earlier releases, which are not bound to a workflow, before this time. 0: never. */
  accept_unbound_until: number;
  /** The ids of all keys that `SECRETS_KEY` has contained. */
  key_ids: string[];
  /** Whether the schedules of an earlier release have been updated. Absent: not yet. */
  are_schedules_sealed?: true;
}

export const payloadTrustCollection = defineCollection('payload_trust', {});

declare module '../stores/collections.js' {
  interface Documents {
    payload_trust: PayloadTrustDocument;
  }
}

/** The time for which an upgraded installation still accepts what processes of the earlier release send. */
const upgradeSeconds = 3600;
const _id = 'payloads';

export type PayloadTrust = ReturnType<typeof createPayloadTrust>;

/** What a worker needs to know to decide about payloads (decision 0117). */
export function createPayloadTrust({
  mongo,
  keyIds,
}: {
  mongo: Pick<Mongo, 'collections'>;
  keyIds: readonly string[];
}) {
  let stored: PayloadTrustDocument | undefined;

  /**
   * Records the keys of this process, and with the first start of a release that binds payloads the time until which the
   * installation accepts others. Runs before the process serves, so a new installation has no organization yet.
   */
  async function begin(): Promise<PayloadTrustDocument> {
    const { payload_trust, organizations } = mongo.collections;
    const isNew = (await payload_trust.findOne({ _id })) === null && (await organizations.findOne({})) === null;
    const accept_unbound_until = isNew ? 0 : epochSeconds() + upgradeSeconds;
    const change = { $setOnInsert: { accept_unbound_until }, $addToSet: { key_ids: { $each: [...keyIds] } } };
    // Of two processes that start together, one inserts the document.
    await payload_trust.updateOne({ _id }, change, { upsert: true }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return payload_trust.updateOne({ _id }, change);
    });
    return read();
  }

  async function read(): Promise<PayloadTrustDocument> {
    const present = await mongo.collections.payload_trust.findOne({ _id });
    return (stored = present ?? (await begin()));
  }

  return {
    begin,
    /** Runs `work` unless it has succeeded before. A new installation has no schedules of an earlier release. */
    async untilSchedulesAreSealed(work: () => Promise<void>): Promise<void> {
      const { accept_unbound_until, are_schedules_sealed } = await read();
      if (accept_unbound_until === 0 || are_schedules_sealed) return;
      await work();
      await mongo.collections.payload_trust.updateOne({ _id }, { $set: { are_schedules_sealed: true } });
    },
    /** In epoch seconds. */
    acceptUnboundUntil: async (): Promise<number> => (stored ?? (await read())).accept_unbound_until,
    /** Whether a process of this installation has ever had the key. */
    isOwnKey: async (keyId: string): Promise<boolean> =>
      stored?.key_ids.includes(keyId) === true || (await read()).key_ids.includes(keyId),
  };
}
