import { defineCollection } from '../../stores/collections.js';
import { compactVerify, createLocalJWKSet } from 'jose';
import { z } from 'zod';
import { asymmetricAlgorithms } from '../../auth/tokens.js';
import { OrganizationId } from '../../base/ids.js';
import { Digest, sha256Hex } from '../../base/hash.js';
import { EpochSeconds } from '../../base/time.js';

export const statementType = 'audit-checkpoint+jwt';

/** A signed statement of a chain's length and head. `previous` is the digest of the previous statement. */
export const Checkpoint = z
  .object({
    organization: OrganizationId,
    number: z.int().describe('From 1, without gaps.').meta({ example: 1 }),
    entries: z.int().meta({ example: 128 }),
    head_hash: Digest,
    at: EpochSeconds,
    previous: Digest.nullable().describe('SHA-256 of the previous statement; null for the first.'),
    statement: z
      .string()
      .describe('Compact JWS over the other fields; keys at /.well-known/jwks.json.')
      .meta({ example: 'eyJhbGciOiJFUzI1NiJ9.eyJudW1iZXIiOjF9.c2lnbmF0dXJl' }),
  })
  .meta({ id: 'AuditCheckpoint' });
export type Checkpoint = z.infer<typeof Checkpoint>;

/** The payload of a statement. */
export const CheckpointPayload = Checkpoint.omit({ statement: true });
export type CheckpointPayload = z.infer<typeof CheckpointPayload>;

/** `_id` is `<organization>:<number>`, so that only one of several processes can create a number. */
interface CheckpointDocument {
  _id: string;
  organization_id: string;
  /** The payload is stored only here, so that no other copy can contradict it. */
  statement: string;
}

interface StatementProblem {
  /** The number of entries that sound statements before the problem cover. */
  soundEntries: number;
  reason: string;
}

export interface StatementsVerdict {
  /** The sound statements in ascending order. */
  sound: Checkpoint[];
  problem: StatementProblem | undefined;
}

/**
 * Checks statements, which must be in ascending order. The last one is checked by its signature. Each statement
 * contains the digest of the previous one, so the previous one is sound if the digest matches; otherwise its signature
 * is checked.
 */
export async function checkStatements(
  organizationId: string,
  statements: readonly string[],
  jwks: { keys: object[] },
): Promise<StatementsVerdict> {
  const sound: Checkpoint[] = [];
  let unsound: number | undefined;
  let expectedDigest: string | null = null;
  for (let index = statements.length - 1; index >= 0; index -= 1) {
    const statement = statements[index] ?? '';
    const payload: Checkpoint | undefined =
      sha256Hex(statement) === expectedDigest ? checkpointOf(statement) : await verifyStatement(statement, jwks);
    if (payload?.organization === organizationId) sound.push(payload);
    else unsound = index + 1;
    expectedDigest = payload?.previous ?? null;
  }
  sound.reverse();
  return { sound, problem: brokenLink(sound) ?? (unsound === undefined ? undefined : unsigned(sound, unsound)) };
}

/** The checkpoint in a statement that a published key signed, or undefined. */
export async function verifyStatement(statement: string, jwks: { keys: object[] }): Promise<Checkpoint | undefined> {
  try {
    const { protectedHeader } = await compactVerify(statement, createLocalJWKSet(jwks), {
      algorithms: asymmetricAlgorithms,
    });
    return protectedHeader.typ === statementType ? checkpointOf(statement) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a statement without checking its signature; undefined if it is invalid. */
export function checkpointOf(statement: string): Checkpoint | undefined {
  try {
    const payload = CheckpointPayload.parse(
      JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString()),
    );
    return { ...payload, statement };
  } catch {
    return undefined;
  }
}

function brokenLink(sound: readonly Checkpoint[]): StatementProblem | undefined {
  let previous: Checkpoint | undefined;
  for (const checkpoint of sound) {
    const number = (previous?.number ?? 0) + 1;
    const follows =
      checkpoint.number === number && checkpoint.previous === (previous ? sha256Hex(previous.statement) : null);
    if (!follows)
      return { soundEntries: previous?.entries ?? 0, reason: `checkpoint ${number} is missing or was replaced` };
    previous = checkpoint;
  }
  return undefined;
}

function unsigned(sound: readonly Checkpoint[], number: number): StatementProblem {
  return { soundEntries: sound.at(-1)?.entries ?? 0, reason: `checkpoint ${number} is not signed by a published key` };
}

export const auditCheckpointsCollection = defineCollection('audit_checkpoints', {
  indexes: [{ keys: { organization_id: 1, _id: -1 } }],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    audit_checkpoints: CheckpointDocument;
  }
}
