import { AppError } from '../../errors.js';
import type { ListQuery, Page } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import { createActiveChains } from './active-chains.js';
import { createCheckpointFile } from './checkpoint-file.js';
import { createCheckpoints, type Checkpoints } from './checkpoints.js';
import { entryId, idsAfter, unchained, type AuditEntry, type AuditEntryDocument, type AuditEvent, type Head } from './entry.js';
import { exportLines } from './export.js';
import { entryOfCall, listEntries, type AuditedCall } from './list.js';
import { checkpointOf, type Checkpoint, type StatementSigner } from './statement.js';
import { verifyChain, type Verification } from './verify.js';

export interface AuditOptions {
  collections: Pick<Collections, 'audit_entries' | 'audit_checkpoints'>;
  signer: StatementSigner;
  /** Where statements are kept beside the database, out of reach of whoever can change it: a folder below `DATA_DIR`. */
  checkpointFolder: string;
  /** A checkpoint is made after so many entries, and after so many seconds in which there were any. */
  checkpointEvery?: number;
  checkpointSeconds?: number;
  /** Told when a checkpoint in the background fails, or is refused because the chain is broken. */
  onError?(error: unknown): void;
  now?(): number;
}

export interface Audit {
  /** Resolves with the entry's place in its organization's chain once it is durably stored. */
  append(event: AuditEvent): Promise<Head>;
  list(organizationId: string, query: ListQuery): Promise<Page<AuditEntry>>;
  /** The entry of a governed call; undefined where the chain holds none near the time that it ended. */
  entryOf(organizationId: string, call: AuditedCall): Promise<AuditEntry | undefined>;
  verify(organizationId: string): Promise<Verification>;
  /** @throws AppError `conflict` where the chain is broken */
  checkpoint(organizationId: string): Promise<Checkpoint | null>;
  checkpoints: Checkpoints['list'];
  /** JSON Lines, sealed by a fresh checkpoint; a broken chain is exported as it is. */
  export(organizationId: string): AsyncGenerator<string>;
  /** Finishes what is being written, seals what is not sealed, and stops. */
  close(): Promise<void>;
}

/** The audit chains of all organizations: one SHA-256 chain each, with signed checkpoints (design, Audit). */
export function createAudit(options: AuditOptions): Audit {
  const { collections, signer, now = Date.now } = options;
  const { audit_entries: entries } = collections;
  const file = createCheckpointFile(options.checkpointFolder);
  const checkpoints = createCheckpoints({ collections, signer, file, now });
  const chains = createActiveChains({ ...options, checkpoints });
  const verifying = new Map<string, Promise<Verification>>();

  function entriesOf(organizationId: string, upTo?: number): AsyncIterable<AuditEntryDocument> {
    const _id = { ...idsAfter(organizationId, 0), ...(upTo === undefined ? {} : { $lte: entryId(organizationId, upTo) }) };
    return entries.find({ _id }).sort({ _id: 1 }).batchSize(1000);
  }

  async function verify(organizationId: string): Promise<Verification> {
    // The kept statements first: each was stored before it was kept.
    const keptStatements = await file.read(organizationId);
    const [statements, jwks] = await Promise.all([checkpoints.statements(organizationId), signer.jwks()]);
    return verifyChain({ organizationId, entries: entriesOf(organizationId), statements, keptStatements, jwks });
  }

  return {
    append: (event) => chains.appender(event.organization_id).append(unchained(event, now() / 1000)),
    list: async (organizationId, query) => listEntries(entries, organizationId, await chains.appender(organizationId).head(), query),
    entryOf: async (organizationId, call) => entryOfCall(entries, organizationId, await chains.appender(organizationId).head(), call),
    verify(organizationId) {
      const running = verifying.get(organizationId) ?? verify(organizationId).finally(() => verifying.delete(organizationId));
      verifying.set(organizationId, running);
      return running;
    },
    checkpoint: chains.seal,
    checkpoints: checkpoints.list,
    async *export(organizationId) {
      const whole = await chains.seal(organizationId).then(() => true, falseWhenBroken);
      const [statements, jwks] = await Promise.all([checkpoints.statements(organizationId), signer.jwks()]);
      const sealed = statements.reduce((most, statement) => Math.max(most, checkpointOf(statement)?.entries ?? 0), 0);
      yield* exportLines({ organizationId, at: now() / 1000, entries: entriesOf(organizationId, whole ? sealed : undefined), statements, jwks });
    },
    close: chains.close,
  };
}

/** A chain that is broken is exported all the same: the file shows where. */
function falseWhenBroken(error: unknown): false {
  if (error instanceof AppError && error.code === 'conflict') return false;
  throw error;
}
