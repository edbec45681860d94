import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb';
import type { Collections } from '../stores/collections.js';
import { createGroup, type Waiting } from '../stores/group.js';
import { durable } from '../stores/mongo.js';
import type { Audit } from './audit/audit.js';
import type { AuditEvent } from './audit/entry.js';
import type { PolicyDecisionDocument } from './lifecycles/policy-decision.js';
import type { LifecycleDocument } from './lifecycles/record.js';

export interface GovernedRecord {
  lifecycle: LifecycleDocument;
  decision?: PolicyDecisionDocument;
  audit: AuditEvent;
}

export interface Recorder {
  /**
   * Resolves once the lifecycle, the decision and the audit entry of a call are durably stored, in this order, so that
   * no audit entry names a lifecycle that is not there. Where it rejects, some may be stored and the call must not be answered.
   */
  record(records: GovernedRecord): Promise<void>;
}

export interface RecorderOptions {
  collections: Pick<Collections, 'lifecycles' | 'policy_decisions'>;
  audit: Pick<Audit, 'append'>;
}

type Stored = Pick<GovernedRecord, 'lifecycle' | 'decision'>;

/** Records in groups: while one group is being written the next gathers, and the audit chain groups for itself. */
export function createRecorder({ collections, audit }: RecorderOptions): Recorder {
  const stored = createGroup<Stored, void>(async (batch: readonly Waiting<Stored, void>[]) => {
    await Promise.all([
      insertAll(collections.lifecycles, batch.map(({ item }) => item.lifecycle)),
      insertAll(collections.policy_decisions, batch.flatMap(({ item }) => item.decision ?? [])),
    ]);
    for (const { resolve } of batch) resolve();
  });
  return {
    async record({ lifecycle, decision, audit: event }) {
      await stored.add({ lifecycle, ...(decision ? { decision } : {}) });
      await audit.append(event);
    },
  };
}

async function insertAll<T extends Document>(collection: Collection<T>, documents: readonly T[]): Promise<void> {
  if (documents.length === 0) return;
  await collection.insertMany(documents as OptionalUnlessRequiredId<T>[], { ordered: false, writeConcern: durable });
}
