import { hash as digest } from 'node:crypto';
import { compactVerify, createLocalJWKSet } from 'jose';
import { z } from 'zod';

/** Signs statements with the product's published keys; `jwks` also holds retired ones, for what they signed before. */
export interface StatementSigner {
  /** A compact JWS with `typ` in its protected header. */
  sign(payload: object, typ: string): Promise<string>;
  jwks(): Promise<{ keys: object[] }>;
}

export const statementType = 'audit-checkpoint+jwt';

/** A signed statement of a chain's length and head; `previous` is the digest of the statement before it. */
export const Checkpoint = z
  .object({
    organization: z.string(),
    number: z.int().meta({ description: 'From 1, without gaps.' }),
    entries: z.int(),
    head_hash: z.string(),
    at: z.number(),
    previous: z.string().nullable().meta({ description: 'SHA-256 of the statement before; null for the first.' }),
    statement: z.string().meta({ description: 'Compact JWS over the other fields; keys at /.well-known/jwks.json.' }),
  })
  .meta({ id: 'AuditCheckpoint' });
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What the statement's payload holds. */
export const CheckpointPayload = Checkpoint.omit({ statement: true });
export type CheckpointPayload = z.infer<typeof CheckpointPayload>;

/** `_id` is `<organization>:<number>`, so that of two processes only one makes a checkpoint's number. */
export interface CheckpointDocument {
  _id: string;
  organization_id: string;
  /** Its payload is the only copy of what it says, so that no other copy can lie. */
  statement: string;
}

export interface StatementProblem {
  /** Entries beyond this are vouched for by no sound statement before the problem. */
  soundEntries: number;
  reason: string;
}

export interface StatementsVerdict {
  /** The sound ones in ascending order. */
  sound: Checkpoint[];
  problem: StatementProblem | undefined;
}

const algorithms = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

export function digestOf(statement: string): string {
  return digest('sha256', statement);
}

/**
 * Checks statements in ascending order. Each holds the digest of the one before it, so one that a sound statement
 * points at is sound without looking at its signature; the last is checked by its signature.
 */
export async function checkStatements(organizationId: string, statements: readonly string[], jwks: { keys: object[] }): Promise<StatementsVerdict> {
  const sound: Checkpoint[] = [];
  let unsound: number | undefined;
  let vouched: string | null = null;
  for (let index = statements.length - 1; index >= 0; index -= 1) {
    const statement = statements[index] ?? '';
    const payload: Checkpoint | undefined = digestOf(statement) === vouched ? checkpointOf(statement) : await verifyStatement(statement, jwks);
    if (payload?.organization === organizationId) sound.push(payload);
    else unsound = index + 1;
    vouched = payload?.previous ?? null;
  }
  sound.reverse();
  return { sound, problem: brokenLink(sound) ?? (unsound === undefined ? undefined : unsigned(sound, unsound)) };
}

/** What a published key signed as a checkpoint; undefined for anything else. */
export async function verifyStatement(statement: string, jwks: { keys: object[] }): Promise<Checkpoint | undefined> {
  try {
    const { protectedHeader } = await compactVerify(statement, createLocalJWKSet(jwks), { algorithms });
    return protectedHeader.typ === statementType ? checkpointOf(statement) : undefined;
  } catch {
    return undefined;
  }
}

/** What a statement says, whoever signed it; undefined where it is none. */
export function checkpointOf(statement: string): Checkpoint | undefined {
  try {
    const payload = CheckpointPayload.parse(JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString()));
    return { ...payload, statement };
  } catch {
    return undefined;
  }
}

function brokenLink(sound: readonly Checkpoint[]): StatementProblem | undefined {
  let previous: Checkpoint | undefined;
  for (const checkpoint of sound) {
    const number = (previous?.number ?? 0) + 1;
    const follows = checkpoint.number === number && checkpoint.previous === (previous ? digestOf(previous.statement) : null);
    if (!follows) return { soundEntries: previous?.entries ?? 0, reason: `checkpoint ${number} is missing or was replaced` };
    previous = checkpoint;
  }
  return undefined;
}

function unsigned(sound: readonly Checkpoint[], number: number): StatementProblem {
  return { soundEntries: sound.at(-1)?.entries ?? 0, reason: `checkpoint ${number} is not signed by a published key` };
}
