import type { Collection } from 'mongodb';
import { defineCollection, type Collections } from '../stores/collections.js';
import { writeTogether } from '../stores/grouped-writes.js';
import { isDuplicateKey } from '../stores/mongo.js';
import type { Audit } from './audit/audit.js';
import type { AuditEvent } from './audit/entry.js';
import { noteChange } from './change-notes.js';
import type { LifecycleDocument } from './lifecycles/record.js';

export interface GovernedRecord {
  lifecycle: LifecycleDocument;
  audit: AuditEvent;
}

/**
 * A call that is about to take effect. Contains what a sweep needs to record the call if its process dies. `_id` is the
 * lifecycle id.
 */
export interface Intent extends Pick<
  LifecycleDocument,
  '_id' | 'tool' | 'principal' | 'project_id' | 'organization_id' | 'trace_id' | 'created_at'
> {
  actor: string;
  resource: string;
}

export interface IntentDocument extends Intent {
  /** The process that runs the call extends the lease. After the lease has expired, a sweep ends the call. */
  leased_until: Date;
  /** How often a sweep has tried to end the call. */
  attempts?: number;
}

export type Recorder = ReturnType<typeof createRecorder>;

interface RecorderOptions {
  collections: Pick<Collections, 'lifecycles' | 'intents' | 'project_news'>;
  audit: Pick<Audit, 'append'>;
}

const leaseMs = 60_000;
const deleteEveryMs = 1000;

/** Intents and lifecycles share the writes of all calls (decision 0016). The audit chain has its own batches. */
export function createRecorder({ collections, audit }: RecorderOptions) {
  const { intents, lifecycles } = collections;
  const open = new Map<string, number>();
  const ended: string[] = [];

  /** Extends the leases of calls that are still running after half of their lease. */
  async function renew(): Promise<void> {
    const slow = [...open].filter(([, since]) => Date.now() - since > leaseMs / 2).map(([id]) => id);
    if (slow.length > 0)
      await intents.updateMany({ _id: { $in: slow } }, { $set: { leased_until: new Date(Date.now() + leaseMs) } });
  }

  /** Deletes the intents of all calls that ended within a second together, because no caller waits for the deletion. */
  async function deleteEnded(): Promise<void> {
    const ids = ended.splice(0);
    if (ids.length > 0) await intents.deleteMany({ _id: { $in: ids } }).catch(() => undefined);
  }
  const timers = [
    setInterval(() => void renew().catch(() => undefined), leaseMs / 3).unref(),
    setInterval(() => void deleteEnded(), deleteEveryMs).unref(),
  ];

  return {
    /** Resolves once the intent is stored durably. */
    async begin(intent: Intent): Promise<void> {
      open.set(intent._id, Date.now());
      try {
        const leased_until = new Date(Date.now() + leaseMs);
        await writeTogether(intents, { insertOne: { document: { ...intent, leased_until } } });
      } catch (error) {
        open.delete(intent._id);
        throw error;
      }
    },
    /**
     * Resolves once the lifecycle and the audit entry of a call are stored durably. They are written at the same time
     * (docs/decisions/0016), except for a held call. If this rejects, the call must not be answered.
     */
    async record({ lifecycle, audit: event }: GovernedRecord): Promise<void> {
      // If recording fails, a sweep records a call that has an intent.
      open.delete(lifecycle._id);
      const storing = store(lifecycles, lifecycle);
      // After a crash, a sweep could not learn from the audit entry alone which approval holds the call.
      if (lifecycle.status === 'pending_approval') await storing;
      await Promise.all([storing, audit.append(event)]);
      noteChange(collections, lifecycle.project_id, 'lifecycle');
    },
    /** Deletes the intent of a recorded call within a second. If this fails, a sweep deletes it. */
    end(lifecycleId: string): void {
      open.delete(lifecycleId);
      ended.push(lifecycleId);
    },
    async close(): Promise<void> {
      timers.forEach((timer) => clearInterval(timer));
      await deleteEnded();
    },
  };
}

/** Replaces the record of a sweep, which may have considered a slow call dead, with the call's own record. */
async function store(lifecycles: Collection<LifecycleDocument>, lifecycle: LifecycleDocument): Promise<void> {
  try {
    await writeTogether(lifecycles, { insertOne: { document: lifecycle } });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const { _id, ...fields } = lifecycle;
    await lifecycles.replaceOne({ _id }, fields, { upsert: true });
  }
}

export const intentsCollection = defineCollection('intents', {
  indexes: [{ keys: { leased_until: 1 } }],
  majorityRead: true,
});

declare module '../stores/collections.js' {
  interface Documents {
    intents: IntentDocument;
  }
}
