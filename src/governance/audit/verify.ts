import { z } from 'zod';
import { kidOf } from './checkpoint-file.js';
import { createChainCheck, type ChainVerdict, type CheckpointedHead } from './chain-check.js';
import type { AuditEntry } from './entry.js';
import { Checkpoint, checkStatements, verifyStatement, type StatementsVerdict } from './statement.js';
import { Digest } from '../../base/hash.js';

/** The verdict on a chain (contract, `/v1/audit/verify`). */
export const Verification = z
  .object({
    valid: z.boolean(),
    entries: z.int().describe('How many entries are stored.').meta({ example: 128 }),
    head_hash: Digest,
    first_broken_seq: z
      .int()
      .nullable()
      .describe('The first entry that was changed or removed, or that no valid checkpoint covers.')
      .meta({ example: null }),
    checkpoint: Checkpoint.nullable().describe('The last valid checkpoint.'),
    reason: z.string().nullable().meta({ example: null }),
  })
  .meta({ id: 'AuditVerification' });
export type Verification = z.infer<typeof Verification>;

interface StoredChain {
  organizationId: string;
  entries: AsyncIterable<AuditEntry>;
  /** Statements that are stored with the chain, in ascending order. */
  statements: readonly string[];
  /** Statements that are stored outside the database. */
  keptStatements: readonly string[];
  jwks: { keys: object[] };
  /** The keys that are stored with `keptStatements`. They take precedence over published keys with the same id. */
  pinnedKeys: { keys: object[] };
}

/** Checks the whole chain once against every sound checkpoint. */
export async function verifyChain(chain: StoredChain): Promise<Verification> {
  const { organizationId, statements, jwks } = chain;
  const [stored, { missing, unverifiable }] = await Promise.all([
    checkStatements(organizationId, statements, jwks),
    missingStatements(chain),
  ]);
  const marks = [...stored.sound, ...missing].sort((a, b) => a.entries - b.entries);
  const check = createChainCheck(organizationId, marks);
  for await (const entry of chain.entries) check.take(entry);
  return verdict(check.end(), stored, { missing, unverifiable }, marks);
}

interface Missing {
  /** Sound kept statements that are missing in the database: somebody removed them there. */
  missing: Checkpoint[];
  /** The number of kept statements that no pinned key signed: somebody changed them or replaced the key. */
  unverifiable: number;
}

async function missingStatements({
  organizationId,
  statements,
  keptStatements,
  jwks,
  pinnedKeys,
}: StoredChain): Promise<Missing> {
  const present = new Set(statements);
  const pinned = new Set(pinnedKeys.keys.map(kidOf));
  const keys = { keys: [...pinnedKeys.keys, ...jwks.keys.filter((key) => !pinned.has(kidOf(key)))] };
  const kept = keptStatements.filter((statement) => !present.has(statement));
  const checked = await Promise.all(kept.map((statement) => verifyStatement(statement, keys)));
  const missing = checked
    .filter((checkpoint) => checkpoint?.organization === organizationId)
    .filter((checkpoint) => checkpoint !== undefined);
  return { missing, unverifiable: checked.length - missing.length };
}

function verdict(
  { entries, headHash, finding }: ChainVerdict,
  stored: StatementsVerdict,
  { missing, unverifiable }: Missing,
  marks: readonly CheckpointedHead[],
): Verification {
  const missingProblem = missing[0] ? `checkpoint ${missing[0].number} is no longer stored` : undefined;
  const keptProblem = unverifiable > 0 ? 'a kept checkpoint is not signed by a pinned key' : undefined;
  const checkpointProblem = stored.problem?.reason ?? missingProblem ?? keptProblem;
  const coveredEntries = Math.max(
    stored.problem?.soundEntries ?? marks.at(-1)?.entries ?? 0,
    missing.at(-1)?.entries ?? 0,
  );
  const firstUncovered = checkpointProblem !== undefined && coveredEntries < entries ? coveredEntries + 1 : null;
  return {
    valid: finding === undefined && checkpointProblem === undefined,
    entries,
    head_hash: headHash,
    first_broken_seq: finding?.seq ?? firstUncovered,
    checkpoint: stored.sound.at(-1) ?? null,
    reason: finding?.reason ?? checkpointProblem ?? null,
  };
}
