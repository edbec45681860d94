import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Deps } from '../../../src/domain/deps.js';
import { createAudit, type Audit, type AuditOptions } from '../../../src/governance/audit/audit.js';
import { chain, entryId, genesis, idsAfter, type AuditEntryDocument } from '../../../src/governance/audit/entry.js';
import { newId } from '../../../src/base/ids.js';
import { createLocalSigner, type LocalSigner } from './local-signer.js';

export interface TestChain {
  organizationId: string;
  audit: Audit;
  signer: LocalSigner;
  checkpointFolder: string;
  /** Appends this number of entries concurrently. */
  append(count: number): Promise<void>;
  /** All stored entries in order. */
  stored(): Promise<AuditEntryDocument[]>;
  /** Replaces a stored entry without the product. */
  put(entry: AuditEntryDocument): Promise<void>;
  remove(...seqs: number[]): Promise<void>;
  /** Rewrites everything after `seq` with matching hashes, as a person who can change the whole database could. */
  rewriteAfter(seq: number): Promise<void>;
}

/** A separate chain for a test; by default, checkpoints are created only on request. */
export async function createTestChain(deps: Deps, options: Partial<AuditOptions> = {}): Promise<TestChain> {
  const organizationId = newId();
  const { audit_entries: entries } = deps.mongo.collections;
  const signer = await createLocalSigner();
  const checkpointFolder = mkdtempSync(path.join(tmpdir(), 'checkpoints-'));
  const audit = createAudit({
    collections: deps.mongo.collections,
    signer,
    checkpointFolder,
    checkpointEvery: Infinity,
    checkpointSeconds: 3600,
    ...options,
  });
  const stored = () =>
    entries
      .find({ _id: idsAfter(organizationId, 0) })
      .sort({ _id: 1 })
      .toArray();
  const put = async (entry: AuditEntryDocument) =>
    void (await entries.replaceOne({ _id: entry._id }, entry, { upsert: true }));
  return {
    organizationId,
    audit,
    signer,
    checkpointFolder,
    append: async (count) =>
      void (await Promise.all(Array.from({ length: count }, (_, at) => audit.append(eventOf(organizationId, at))))),
    stored,
    put,
    remove: async (...seqs) => {
      for (const seq of seqs) await entries.deleteOne({ _id: entryId(organizationId, seq) });
    },
    async rewriteAfter(seq) {
      const all = await stored();
      const head = seq === 0 ? genesis(organizationId) : { seq, hash: all[seq - 1]?.hash ?? '' };
      const contents = all
        .slice(seq)
        .map(({ _id, seq: _seq, prev_hash: _prev, hash: _hash, ...content }) => ({ ...content, actor: 'nobody' }));
      for (const entry of chain(organizationId, head, contents)) await put(entry);
    },
  };
}

export function eventOf(organizationId: string, at: number) {
  return {
    organization_id: organizationId,
    actor: `user_jwt:${newId()}`,
    action: 'query-context',
    resource: `entity:Größe ${at} "'\\ \u{1f600}`,
    outcome: 'completed',
    lifecycle_id: newId(),
  };
}
