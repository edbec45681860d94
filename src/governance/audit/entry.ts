import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { Id, newId, UserId } from '../../base/ids.js';
import { Digest, sha256Hex } from '../../base/hash.js';
import { canonicalText } from '../../base/json.js';
import { EpochSeconds, epochSeconds } from '../../base/time.js';

/**
 * One entry of an organization's chain (contract, audit). `hash` is the SHA-256 of the RFC 8785 JSON of all other
 * fields, and `prev_hash` is the `hash` of the previous entry. A change to an entry therefore changes all later hashes.
 */
export const AuditEntry = z
  .object({
    entry_id: Id,
    seq: z.int().describe('From 1, without gaps.').meta({ example: 17 }),
    at: EpochSeconds,
    actor: UserId,
    action: z.string().meta({ example: 'query-context' }),
    resource: z.string().meta({ example: 'context/graph' }),
    outcome: z.string().meta({ example: 'completed' }),
    lifecycle_id: Id.nullable(),
    prev_hash: Digest,
    hash: Digest.describe('SHA-256 of the canonical JSON (RFC 8785) of the other fields.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** `_id` is `<organization>:<seq>`, so that only one of several concurrent processes can take a position. */
export type AuditEntryDocument = AuditEntry & { _id: string };

/** An entry without its position in the chain. */
export type UnchainedEntry = Omit<AuditEntry, 'seq' | 'prev_hash' | 'hash'>;

/**
 * An event to record. Texts must not contain secrets; long ones are shortened. `at` is in epoch seconds; the default is
 * now.
 */
export interface AuditEvent extends Pick<AuditEntry, 'actor' | 'action' | 'resource' | 'outcome' | 'lifecycle_id'> {
  organization_id: string;
  at?: number;
}

/** The last position of a chain. */
export interface ChainHead {
  seq: number;
  hash: string;
}

const maxText = 1000;

/**
 * The position before the first entry. It differs by organization, so that a chain cannot be passed off as another one.
 */
export function genesis(organizationId: string): ChainHead {
  return { seq: 0, hash: sha256Hex(`audit-chain:${organizationId}`) };
}

export function entryId(organizationId: string, seq: number): string {
  return `${organizationId}:${String(seq).padStart(12, '0')}`;
}

/** The range of an organization's `_id`s after `seq`; `;` is the character after `:`. */
export function idsAfter(organizationId: string, seq: number): { $gt: string; $lt: string } {
  return { $gt: entryId(organizationId, seq), $lt: `${organizationId};` };
}

/**
 * Makes an entry of an event. Replaces invalid Unicode, as the database would, so that the hash still matches after
 * reading.
 */
export function unchained(event: AuditEvent): UnchainedEntry {
  const text = (value: string) => Buffer.from(value.slice(0, maxText)).toString();
  return {
    entry_id: newId(),
    at: event.at ?? epochSeconds(),
    actor: text(event.actor),
    action: text(event.action),
    resource: text(event.resource),
    outcome: text(event.outcome),
    lifecycle_id: event.lifecycle_id,
  };
}

/** @throws Error for values without a canonical form, such as NaN */
export function hashOf(content: Omit<AuditEntry, 'hash'>): string {
  return sha256Hex(canonicalEntry(content));
}

const fieldCount = 9;

/**
 * The RFC 8785 text. For a flat object with the expected fields it is the JSON of the sorted fields, which is several
 * times faster than the general algorithm. An entry with other fields was tampered with and takes the general
 * algorithm.
 */
function canonicalEntry(content: Omit<AuditEntry, 'hash'>): string {
  const values = Object.values(content);
  const isFlat =
    values.length === fieldCount &&
    values.every((value) => typeof value === 'string' || Number.isFinite(value) || value === null);
  const { action, actor, at, entry_id, lifecycle_id, outcome, prev_hash, resource, seq } = content;
  if (isFlat) return JSON.stringify({ action, actor, at, entry_id, lifecycle_id, outcome, prev_hash, resource, seq });
  return canonicalText(content);
}

/** Assigns entries their positions after `head`. */
export function chain(
  organizationId: string,
  head: ChainHead,
  entries: readonly UnchainedEntry[],
): AuditEntryDocument[] {
  let { seq, hash } = head;
  return entries.map((entry) => {
    seq += 1;
    const content = { ...entry, seq, prev_hash: hash };
    hash = hashOf(content);
    return { _id: entryId(organizationId, seq), ...content, hash };
  });
}

export const auditEntriesCollection = defineCollection('audit_entries', {
  indexes: [
    { keys: { lifecycle_id: 1 } },
    { keys: { actor: 1, _id: 1 } },
    { keys: { action: 1, _id: 1 } },
    { keys: { resource: 1, _id: 1 } },
  ],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    audit_entries: AuditEntryDocument;
  }
}
