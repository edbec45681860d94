import type { StatementSigner } from '../../auth/tokens.js';
import { AppError } from '../../base/errors.js';
import type { ListQuery } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import { createActiveChains, type ActiveChainsOptions } from './active-chains.js';
import { createCheckpointFile } from './checkpoint-file.js';
import { createCheckpoints } from './checkpoints.js';
import { entryId, idsAfter, unchained, type AuditEntryDocument, type AuditEvent } from './entry.js';
import { exportLines } from './export.js';
import { entrySince, listEntries, type AuditFilter } from './list.js';
import { checkpointOf } from './statement.js';
import { verifyChain, type Verification } from './verify.js';

export interface AuditOptions extends Omit<ActiveChainsOptions, 'collections' | 'checkpoints'> {
  collections: Pick<Collections, 'audit_entries' | 'audit_checkpoints'>;
  signer: StatementSigner;
  /** A folder below `DATA_DIR` for signed statements, out of reach of anybody who can change the database. */
  checkpointFolder: string;
}

export type Audit = ReturnType<typeof createAudit>;

/** The audit chains of all organizations: one SHA-256 chain each, with signed checkpoints (design, Audit). */
export function createAudit(options: AuditOptions) {
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
    /** Resolves with the position in the organization's chain once the entry is stored durably. */
    append: (event: AuditEvent) => chains.appender(event.organization_id).append(unchained(event)),
    list: async (organizationId: string, query: ListQuery & AuditFilter) =>
      listEntries(entries, organizationId, await chains.appender(organizationId).head(), query),
    /** The entry of a call that started at this time (epoch seconds). Does not read much older entries. */
    entrySince: async (organizationId: string, call: Parameters<typeof entrySince>[3]) =>
      entrySince(entries, organizationId, await chains.appender(organizationId).head(), call),
    verify(organizationId: string): Promise<Verification> {
      const running =
        verifying.get(organizationId) ?? verify(organizationId).finally(() => verifying.delete(organizationId));
      verifying.set(organizationId, running);
      return running;
    },
    /** @throws AppError `conflict` if the chain is broken */
    checkpoint: chains.seal,
    checkpoints: checkpoints.list,
    /** Exports JSON Lines, sealed by a new checkpoint. A broken chain is exported as it is. */
    async *export(organizationId: string) {
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
    /** Waits for pending writes, seals the remaining entries, and stops. */
    close: chains.close,
  };
}

/** A broken chain is exported too, so that the export shows where it is broken. */
function falseIfBroken(error: unknown): false {
  if (error instanceof AppError && error.code === 'conflict') return false;
  throw error;
}
