import { v5 } from 'uuid';
import { z } from 'zod';
import { isVisible } from '../../base/validation.js';

const text = (maxLength: number, stored = z.string()) =>
  stored
    .min(1)
    .max(maxLength)
    .refine((value) => !/[\u0000-\u001F\u007F\p{Surrogate}]/u.test(value), 'holds a character that a name cannot have')
    .refine((value) => value.trim() === value, 'begins or ends with a space')
    .refine(isVisible, 'must contain a visible character');

const reservedTypes = new Set([
  ...['entity', 'fact', 'sealed', 'projectstate', 'has_fact', 'fact_object'],
  ...['savedpart', 'entityalias', 'entitymerge'],
]);
const reservedProperties = new Set([
  ...['id', 'project_id', 'projectid', 'project_ids', 'type', 'name'],
  ...['labels', 'constructor', 'prototype'],
]);

/** Texts that look the same are stored in the same form. Ids stay as they are. */
const inNfc = z.string().normalize('NFC');

export const EntityId = text(200);
export const EntityName = text(500, inNfc);
export const TypeName = text(100, inNfc)
  .regex(/^\p{L}[\p{L}\p{N}_ -]*$/u, 'begins with a letter and has letters, digits, _, - and spaces')
  .refine((name) => !reservedTypes.has(name.toLowerCase()), 'is reserved');
export const PropertyName = text(100, inNfc)
  .regex(/^\p{L}[\p{L}\p{N}_ .-]*$/u, 'begins with a letter and has letters, digits, _, ., - and spaces')
  .refine((name) => !reservedProperties.has(name.toLowerCase()), 'is reserved');

const namespace = 'b5f1a0f6-6a86-4a3e-9e0b-0c4f0f2c7c55';

/** Derives an id for an item without one. The same parts produce the same id in every process. */
export function derivedId(...parts: (string | number)[]): string {
  return v5(JSON.stringify(parts), namespace);
}

/** Returns a single term of the full-text index. Its last character prevents stemming. */
export function scopeTerm(projectId: string): string {
  return `p${v5(projectId, namespace).replaceAll('-', '')}0`;
}

/** The internal properties of nodes and relationships. No response contains them. */
export const internalProperties: ReadonlySet<string> = new Set([
  ...['_scope', '_search', '_words', '_title', '_title_key', '_folded', '_names', '_times', '_asks', '_json'],
  ...['_since', '_until', '_from', '_to'],
  ...['_saved_by', '_source', '_recorded_at', '_lifecycle_id'],
  ...['_memory_id', '_turn', '_span_start', '_span_end', '_closed_by', '_superseded_by'],
  ...['_of_facts', '_end_of_facts'],
]);

/** Returns a key that is equal for the same type and name. */
export function nameKey({ type, name }: { type: string; name: string }): string {
  return JSON.stringify([type, name]);
}
