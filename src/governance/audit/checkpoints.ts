import type { Collection } from 'mongodb';
import type { StatementSigner } from '../../auth/tokens.js';
import { AppError } from '../../base/errors.js';
import { listPage, type ListQuery, type Page } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { sha256Hex } from '../../base/hash.js';
import { epochSeconds } from '../../base/time.js';
import { createChainCheck } from './chain-check.js';
import type { CheckpointFile } from './checkpoint-file.js';
import { entryId, idsAfter, type AuditEntryDocument, type ChainHead } from './entry.js';
import { checkpointOf, statementType, verifyStatement, type Checkpoint, type CheckpointPayload } from './statement.js';

interface CheckpointsOptions {
  collections: Pick<Collections, 'audit_entries' | 'audit_checkpoints'>;
  signer: StatementSigner;
  file: CheckpointFile;
}

export type Checkpoints = ReturnType<typeof createCheckpoints>;

export function createCheckpoints({ collections, signer, file }: CheckpointsOptions) {
  const { audit_entries: entries, audit_checkpoints: checkpoints } = collections;

  async function latest(organizationId: string): Promise<Checkpoint | null> {
    const [document] = await checkpoints.find({ organization_id: organizationId }).sort({ _id: -1 }).limit(1).toArray();
    if (!document) return null;
    const checkpoint = await verifyStatement(document.statement, await signer.jwks());
    if (!checkpoint) throw new AppError('conflict', 'the last checkpoint is not signed by a published key');
    return checkpoint;
  }

  async function sign(organizationId: string, head: ChainHead, last: Checkpoint | null): Promise<Checkpoint> {
    const payload: CheckpointPayload = {
      organization: organizationId,
      number: (last?.number ?? 0) + 1,
      entries: head.seq,
      head_hash: head.hash,
      at: epochSeconds(),
      previous: last ? sha256Hex(last.statement) : null,
    };
    return { ...payload, statement: await signer.sign(payload, statementType) };
  }

  return {
    /**
     * Checks the entries since the last checkpoint and then signs the chain's length and head. Returns the last
     * checkpoint if there are no new entries, and null if the chain is empty.
     * @throws AppError `conflict` if the chain is broken; nothing is signed then
     */
    async seal(organizationId: string, head: ChainHead): Promise<Checkpoint | null> {
      for (;;) {
        const last = await latest(organizationId);
        if (head.seq <= (last?.entries ?? 0)) return last;
        await requireSound(entries, organizationId, last, head);
        const checkpoint = await sign(organizationId, head, last);
        try {
          await checkpoints.insertOne({
            _id: entryId(organizationId, checkpoint.number),
            organization_id: organizationId,
            statement: checkpoint.statement,
          });
        } catch (error) {
          if (isDuplicateKey(error)) continue;
          throw error;
        }
        await file.pin((await signer.jwks()).keys);
        await file.append(organizationId, checkpoint.statement);
        return checkpoint;
      }
    },
    /** All stored statements in ascending order. */
    async statements(organizationId: string): Promise<string[]> {
      const documents = await checkpoints.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray();
      return documents.map(({ statement }) => statement);
    },
    async list(organizationId: string, query: ListQuery): Promise<Page<Checkpoint>> {
      const page = await listPage(checkpoints, { organization_id: organizationId }, query);
      return { ...page, data: page.data.flatMap(({ statement }) => checkpointOf(statement) ?? []) };
    },
  };
}

/**
 * Checks the hashes of the entries since the last checkpoint. The head comes from the appending process, not only from
 * the database.
 */
async function requireSound(
  entries: Collection<AuditEntryDocument>,
  organizationId: string,
  last: Checkpoint | null,
  head: ChainHead,
): Promise<void> {
  const start = last ? { seq: last.entries, hash: last.head_hash } : undefined;
  const check = createChainCheck(organizationId, [{ entries: head.seq, head_hash: head.hash }], start);
  const added = entries.find({
    _id: { ...idsAfter(organizationId, last?.entries ?? 0), $lte: entryId(organizationId, head.seq) },
  });
  for await (const entry of added.sort({ _id: 1 }).batchSize(1000)) if (!check.take(entry)) break;
  const { finding } = check.end();
  if (finding)
    throw new AppError('conflict', `no checkpoint can be signed: the audit chain is broken at entry ${finding.seq}`);
}
