import { z } from 'zod';
import { createChainCheck, type ChainVerdict, type Mark } from './chain-check.js';
import type { AuditEntry } from './entry.js';
import { Checkpoint, checkStatements, verifyStatement, type StatementsVerdict } from './statement.js';

/** The verdict on a chain (contract, `/v1/audit/verify`). */
export const Verification = z
  .object({
    valid: z.boolean(),
    entries: z.int().meta({ description: 'How many entries are stored.' }),
    head_hash: z.string(),
    first_broken_seq: z.int().nullable().meta({ description: 'The first entry that is not what it was, or that no sound checkpoint vouches for.' }),
    checkpoint: Checkpoint.nullable().meta({ description: 'The last sound checkpoint.' }),
    reason: z.string().nullable(),
  })
  .meta({ id: 'AuditVerification' });
export type Verification = z.infer<typeof Verification>;

export interface StoredChain {
  organizationId: string;
  entries: AsyncIterable<AuditEntry>;
  /** Statements that are stored with the chain, in ascending order. */
  statements: readonly string[];
  /** Statements that are kept apart from it; those that no published key signed are not looked at. */
  keptStatements: readonly string[];
  jwks: { keys: object[] };
}

/** Walks the whole chain once, in the order it comes, against every sound checkpoint. */
export async function verifyChain(chain: StoredChain): Promise<Verification> {
  const { organizationId, statements, jwks } = chain;
  const stored = await checkStatements(organizationId, statements, jwks);
  const lost = await lostStatements(chain);
  const marks = [...stored.sound, ...lost].sort((a, b) => a.entries - b.entries);
  const check = createChainCheck(organizationId, marks);
  for await (const entry of chain.entries) check.take(entry);
  return verdict(check.end(), stored, lost, marks);
}

/** Sound statements that were kept but are stored no more: somebody removed them. */
async function lostStatements({ organizationId, statements, keptStatements, jwks }: StoredChain): Promise<Checkpoint[]> {
  const present = new Set(statements);
  const missing = keptStatements.filter((statement) => !present.has(statement));
  const sound = await Promise.all(missing.map((statement) => verifyStatement(statement, jwks)));
  return sound.filter((checkpoint) => checkpoint?.organization === organizationId).filter((checkpoint) => checkpoint !== undefined);
}

function verdict({ entries, headHash, finding }: ChainVerdict, stored: StatementsVerdict, lost: readonly Checkpoint[], marks: readonly Mark[]): Verification {
  const checkpointProblem = stored.problem?.reason ?? (lost[0] ? `checkpoint ${lost[0].number} is no longer stored` : undefined);
  const vouched = Math.max(stored.problem?.soundEntries ?? marks.at(-1)?.entries ?? 0, lost.at(-1)?.entries ?? 0);
  const unvouched = checkpointProblem !== undefined && vouched < entries ? vouched + 1 : null;
  return {
    valid: finding === undefined && checkpointProblem === undefined,
    entries,
    head_hash: headHash,
    first_broken_seq: finding?.seq ?? unvouched,
    checkpoint: stored.sound.at(-1) ?? null,
    reason: finding?.reason ?? checkpointProblem ?? null,
  };
}
