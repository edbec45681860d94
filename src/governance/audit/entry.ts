import { hash as digest } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import { newId } from '../../ids.js';

/**
 * One link of an organization's chain (contract, audit). `hash` is the SHA-256 of the RFC 8785 JSON of every other field,
 * and `prev_hash` the `hash` of the entry before, so that nothing here can change without every later hash changing.
 */
export const AuditEntry = z
  .object({
    entry_id: z.string(),
    seq: z.int().meta({ description: 'From 1, without gaps.' }),
    at: z.number(),
    actor: z.string(),
    action: z.string(),
    resource: z.string(),
    outcome: z.string(),
    lifecycle_id: z.string().nullable(),
    prev_hash: z.string(),
    hash: z.string().meta({ description: 'SHA-256 over the canonical JSON (RFC 8785) of the other fields.' }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** `_id` is `<organization>:<seq>`, so that of two processes that append at once only one can have the next place. */
export type AuditEntryDocument = AuditEntry & { _id: string };

/** What happened, before it has its place in the chain. */
export type UnchainedEntry = Omit<AuditEntry, 'seq' | 'prev_hash' | 'hash'>;

/** What a caller reports. Texts never hold secrets; the longest are cut. `at` is epoch seconds, now when not given. */
export interface AuditEvent extends Pick<AuditEntry, 'actor' | 'action' | 'resource' | 'outcome' | 'lifecycle_id'> {
  organization_id: string;
  at?: number;
}

/** The place after which the next entry comes. */
export interface Head {
  seq: number;
  hash: string;
}

const maxText = 1000;

/** The place before the first entry; it differs by organization, so that a chain cannot pass for another's. */
export function genesis(organizationId: string): Head {
  return { seq: 0, hash: digest('sha256', `audit-chain:${organizationId}`) };
}

export function entryId(organizationId: string, seq: number): string {
  return `${organizationId}:${String(seq).padStart(12, '0')}`;
}

/** The range of an organization's `_id`s after `seq`; `;` follows `:`. */
export function idsAfter(organizationId: string, seq: number): { $gt: string; $lt: string } {
  return { $gt: entryId(organizationId, seq), $lt: `${organizationId};` };
}

/** Texts are made what the store gives back, so that the hash over them holds: well-formed Unicode. */
export function unchained(event: AuditEvent, now: number): UnchainedEntry {
  const text = (value: string) => Buffer.from(value.slice(0, maxText)).toString();
  return {
    entry_id: newId(),
    at: event.at ?? now,
    actor: text(event.actor),
    action: text(event.action),
    resource: text(event.resource),
    outcome: text(event.outcome),
    lifecycle_id: event.lifecycle_id,
  };
}

/** @throws Error for what has no canonical form, such as NaN */
export function hashOf(content: Omit<AuditEntry, 'hash'>): string {
  return digest('sha256', canonicalText(content));
}

const fieldCount = 9;

/**
 * The RFC 8785 text. Of a flat object it is the JSON of its fields in order, which is several times as quick as the general
 * way; what a tamperer made of an entry takes the general way.
 */
function canonicalText(content: Omit<AuditEntry, 'hash'>): string {
  const values = Object.values(content);
  const isFlat = values.length === fieldCount && values.every((value) => typeof value === 'string' || Number.isFinite(value) || value === null);
  const { action, actor, at, entry_id, lifecycle_id, outcome, prev_hash, resource, seq } = content;
  if (isFlat) return JSON.stringify({ action, actor, at, entry_id, lifecycle_id, outcome, prev_hash, resource, seq });
  return canonicalize(content) ?? '';
}

/** Gives entries their places after `head`. */
export function chain(organizationId: string, head: Head, entries: readonly UnchainedEntry[]): AuditEntryDocument[] {
  let { seq, hash } = head;
  return entries.map((entry) => {
    seq += 1;
    const content = { ...entry, seq, prev_hash: hash };
    hash = hashOf(content);
    return { _id: entryId(organizationId, seq), ...content, hash };
  });
}
