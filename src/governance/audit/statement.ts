import { hash as digest } from 'node:crypto';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
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
    number: z.int().meta({ description: 'From 1, without gaps.' }),
    entries: z.int(),
    head_hash: z.string(),
    at: z.number(),
    previous: z.string().nullable().meta({ description: 'SHA-256 of the statement before; null for the first.' }),
    statement: z.string().meta({ description: 'Compact JWS over these fields and the organization; keys at /.well-known/jwks.json.' }),
  })
  .meta({ id: 'AuditCheckpoint' });
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What the statement's payload holds. */
export const CheckpointPayload = Checkpoint.omit({ statement: true }).extend({ organization: z.string() });
export type CheckpointPayload = z.infer<typeof CheckpointPayload>;

/** `_id` is `<organization>:<number>`, so that of two processes only one makes a checkpoint's number. */
export interface CheckpointDocument extends Checkpoint {
  _id: string;
  organization_id: string;
}

export interface StatementProblem {
  /** Entries beyond this are vouched for by no sound statement before the problem. */
  soundEntries: number;
  reason: string;
}

export interface StatementsVerdict {
  /** The sound ones in ascending order. */
  sound: (CheckpointPayload & { statement: string })[];
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
  const sound: StatementsVerdict['sound'] = [];
  const unsound: number[] = [];
  let vouched: string | null = null;
  for (let index = statements.length - 1; index >= 0; index -= 1) {
    const statement = statements[index] ?? '';
    const payload = digestOf(statement) === vouched ? decode(statement) : await verifySignature(statement, jwks);
    if (payload?.organization === organizationId) sound.unshift({ ...payload, statement });
    else unsound.unshift(index + 1);
    vouched = payload?.previous ?? null;
  }
  return { sound, problem: problemOf(sound, unsound) };
}

/** The payload of a statement that a published key signed as a checkpoint; undefined for anything else. */
export async function verifySignature(statement: string, jwks: { keys: object[] }): Promise<CheckpointPayload | undefined> {
  try {
    const { payload, protectedHeader } = await compactVerify(statement, createLocalJWKSet(jwks as JSONWebKeySet), { algorithms });
    if (protectedHeader.typ !== statementType) return undefined;
    return CheckpointPayload.parse(JSON.parse(Buffer.from(payload).toString()));
  } catch {
    return undefined;
  }
}

function decode(statement: string): CheckpointPayload | undefined {
  const payload = CheckpointPayload.safeParse(JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString()));
  return payload.data;
}

function problemOf(sound: StatementsVerdict['sound'], unsound: readonly number[]): StatementProblem | undefined {
  let previous: (typeof sound)[number] | undefined;
  for (const statement of sound) {
    const follows = statement.number === (previous?.number ?? 0) + 1 && statement.previous === (previous ? digestOf(previous.statement) : null);
    if (!follows) return { soundEntries: previous?.entries ?? 0, reason: `checkpoint ${(previous?.number ?? 0) + 1} is missing or was replaced` };
    previous = statement;
  }
  if (unsound.length > 0) return { soundEntries: previous?.entries ?? 0, reason: `checkpoint ${unsound[0]} is not signed by a published key` };
  return undefined;
}
