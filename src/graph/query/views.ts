import type { Node, Relationship } from 'neo4j-driver';
import { z } from 'zod';
import { isOwnProperty } from '../store/entities.js';
import { provenanceOf, type Consumption } from '../store/provenance.js';
import { isOwnRelationshipProperty } from '../store/relationships.js';
import { fromStored } from '../store/values.js';

/** Characters of JSON of all that an answer holds. */
export const answerCharacters = 4 * 1024 * 1024;

const Provenance = z
  .object({
    saved_by: z.string().nullable(),
    source: z.string().nullable(),
    recorded_at: z.number().nullable().meta({ description: 'Epoch seconds.' }),
    consumed: z.object({ lifecycle_id: z.string(), run: z.string().nullable(), at: z.number() }),
  })
  .meta({ description: 'Who saved it, from where and when, and which call was handed it.' });

const Properties = z.record(z.string(), z.unknown());

export const EntityView = z.object({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  properties: Properties,
  score: z.number().meta({ description: 'From 1 for the first down to 0.' }),
  project_id: z.string(),
  provenance: Provenance,
});
export type EntityView = z.infer<typeof EntityView>;

export const RelationshipView = z.object({
  id: z.string(),
  type: z.string(),
  from: z.string(),
  to: z.string(),
  properties: Properties,
  provenance: Provenance,
});
export type RelationshipView = z.infer<typeof RelationshipView>;

export const FactView = z.object({
  subject: z.string(),
  predicate: z.string(),
  object: z.union([z.string(), z.number(), z.boolean()]),
  confidence: z.union([z.number(), z.string()]),
  valid_from: z.number().nullable(),
  valid_to: z.number().nullable(),
  provenance: Provenance,
});
export type FactView = z.infer<typeof FactView>;

export const ContextAnswer = z
  .object({
    entities: z.array(EntityView),
    relationships: z.array(RelationshipView),
    facts: z.array(FactView),
    rows: z.array(z.record(z.string(), z.unknown())).meta({ description: 'What the query returned, row by row; empty for natural language.' }),
    limit: z.int(),
    truncated: z.boolean().meta({ description: 'There is more than the limit, or than an answer may hold.' }),
  })
  .meta({ id: 'ContextAnswer' });
export type ContextAnswer = z.infer<typeof ContextAnswer>;

export function isEntity({ labels }: Node): boolean {
  return labels.includes('Entity');
}

export function isFact({ labels }: Node): boolean {
  return labels.includes('Fact');
}

/** The links between facts and entities are how facts are kept, and no relationships of the caller's. */
export function isLink({ type }: Pick<Relationship, 'type'>): boolean {
  return type === 'HAS_FACT' || type === 'FACT_OBJECT';
}

export function entityView({ properties }: Node, score: number, consumed: Consumption): EntityView {
  return {
    id: text(properties.id),
    type: text(properties.type),
    name: text(properties.name),
    properties: fromStored(properties, isOwnProperty),
    score,
    project_id: text(properties.project_id),
    provenance: provenanceOf(properties, consumed),
  };
}

export function relationshipView({ type, properties }: Pick<Relationship, 'type' | 'properties'>, consumed: Consumption): RelationshipView {
  return {
    id: text(properties.id),
    type,
    from: text(properties._from),
    to: text(properties._to),
    properties: fromStored(properties, isOwnRelationshipProperty),
    provenance: provenanceOf(properties, consumed),
  };
}

export function factView({ properties }: Node, consumed: Consumption): FactView {
  const time = (value: unknown) => (typeof value === 'number' ? value : null);
  return {
    subject: text(properties.subject),
    predicate: text(properties.predicate),
    object: properties.object as FactView['object'],
    confidence: Number(properties.confidence),
    valid_from: time(properties.valid_from),
    valid_to: time(properties.valid_to),
    provenance: provenanceOf(properties, consumed),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
