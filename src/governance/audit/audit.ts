import { AppError } from '../../errors.js';
import type { ListQuery, Page } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import { createActiveChains } from './active-chains.js';
import { createCheckpointFile } from './checkpoint-file.js';
import { createCheckpoints, type Checkpoints } from './checkpoints.js';
import {
  entryId,
  idsAfter,
  unchained,
  type AuditEntry,
  type AuditEntryDocument,
  type AuditEvent,
  type ChainHead,
} from './entry.js';
import { exportLines } from './export.js';
import { entryWithin, listEntries, type AuditFilter } from './list.js';
import { checkpointOf, type Checkpoint, type StatementSigner } from './statement.js';
import { verifyChain, type Verification } from './verify.js';

export interface AuditOptions {
  collections: Pick<Collections, 'audit_entries' | 'audit_checkpoints'>;
  signer: StatementSigner;
  /** A folder below `DATA_DIR` for signed statements, out of reach of anybody who can change the database. */
  checkpointFolder: string;
  /** A checkpoint is made after this number of entries, and after this number of seconds if there are new entries. */
  checkpointEvery?: number;
  checkpointSeconds?: number;
  /** Called if a background checkpoint fails, or is refused because the chain is broken. */
  onError?(error: unknown): void;
}

export interface Audit {
  /** Resolves with the position in the organization's chain once the entry is stored durably. */
  append(event: AuditEvent): Promise<ChainHead>;
  list(organizationId: string, query: ListQuery & AuditFilter): Promise<Page<AuditEntry>>;
  /** The entry of a call that started at this time (epoch seconds). Does not read much older entries. */
  entrySince(organizationId: string, call: { lifecycle_id: string; since: number }): Promise<AuditEntry | undefined>;
  verify(organizationId: string): Promise<Verification>;
  /** @throws AppError `conflict` if the chain is broken */
  checkpoint(organizationId: string): Promise<Checkpoint | null>;
  checkpoints: Checkpoints['list'];
  /** Exports JSON Lines, sealed by a new checkpoint. A broken chain is exported as it is. */
  export(organizationId: string): AsyncGenerator<string>;
  /** Waits for pending writes, seals the remaining entries, and stops. */
  close(): Promise<void>;
}

/** The audit chains of all organizations: one SHA-256 chain each, with signed checkpoints (design, Audit). */
export function createAudit(options: AuditOptions): Audit {
  const { collections, signer } = options;
  const { audit_entries: entries } = collections;
  const file = createCheckpointFile(options.checkpointFolder);
  const checkpoints = createCheckpoints({ collections, signer, file });
  const chains = createActiveChains({ ...options, checkpoints });
  const verifying = new Map<string, Promise<Verification>>();

  function entriesOf(organizationId: string, upTo?: number): AsyncIterable<AuditEntryDocument> {
    const _id = {
      ...idsAfter(organizationId, 0),
      ...(upTo === undefined ? {} : { $lte: entryId(organizationId, upTo) }),
    };
    return entries.find({ _id }).sort({ _id: 1 }).batchSize(1000);
  }

  async function verify(organizationId: string): Promise<Verification> {
    // The file is read before the database, because each statement is stored in the database first.
    const keptStatements = await file.read(organizationId);
    const [statements, jwks, pinnedKeys] = await Promise.all([
      checkpoints.statements(organizationId),
      signer.jwks(),
      file.pinned(),
    ]);
    return verifyChain({
      organizationId,
      entries: entriesOf(organizationId),
      statements,
      keptStatements,
      jwks,
      pinnedKeys,
    });
  }

  return {
    append: (event) => chains.appender(event.organization_id).append(unchained(event)),
    list: async (organizationId, query) =>
      listEntries(entries, organizationId, await chains.appender(organizationId).head(), query),
    entrySince: async (organizationId, { lifecycle_id, since }) =>
      entryWithin(entries, organizationId, await chains.appender(organizationId).head(), { lifecycle_id, from: since }),
    verify(organizationId) {
      const running =
        verifying.get(organizationId) ?? verify(organizationId).finally(() => verifying.delete(organizationId));
      verifying.set(organizationId, running);
      return running;
    },
    checkpoint: chains.seal,
    checkpoints: checkpoints.list,
    async *export(organizationId) {
      const isIntact = await chains.seal(organizationId).then(() => true, falseIfBroken);
      const [statements, jwks] = await Promise.all([checkpoints.statements(organizationId), signer.jwks()]);
      const sealed = statements.reduce((most, statement) => Math.max(most, checkpointOf(statement)?.entries ?? 0), 0);
      yield* exportLines({
        organizationId,
        at: epochSeconds(),
        entries: entriesOf(organizationId, isIntact ? sealed : undefined),
        statements,
        jwks,
      });
    },
    close: chains.close,
  };
}

/** A broken chain is exported too, so that the export shows where it is broken. */
function falseIfBroken(error: unknown): false {
  if (error instanceof AppError && error.code === 'conflict') return false;
  throw error;
}
