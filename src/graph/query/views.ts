import type { Node, Relationship } from 'neo4j-driver';
import { z } from 'zod';
import { isOwnProperty } from '../store/entities.js';
import { Provenance, provenanceOf, type Consumption } from '../store/provenance.js';
import { isOwnRelationshipProperty } from '../store/relationships.js';
import { validityIn } from '../store/validity.js';
import { fromStored } from '../store/values.js';
import { Id, ProjectId } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';

/** The maximum size of a response in JSON characters. */
export const maxAnswerLength = 4 * 1024 * 1024;

const Properties = z.record(z.string(), z.unknown());
const ownValidity = { valid_from: EpochSeconds.optional(), valid_to: EpochSeconds.optional() };

export const EntityView = z
  .object({
    id: Id,
    type: z.string().meta({ example: 'Person' }),
    name: z.string().meta({ example: 'Grace Hopper' }),
    properties: Properties,
    score: z.number().describe('From 1 for the first down to 0.').meta({ example: 0.87 }),
    project_id: ProjectId,
    ...ownValidity,
    provenance: Provenance,
  })
  .meta({ id: 'Entity' });
export type EntityView = z.infer<typeof EntityView>;

export const RelationshipView = z
  .object({
    id: Id,
    type: z.string().meta({ example: 'OWNS' }),
    from: z.string().meta({ example: 'customer-1' }),
    to: z.string().meta({ example: 'product-1' }),
    properties: Properties,
    ...ownValidity,
    provenance: Provenance,
  })
  .meta({ id: 'Relationship' });
export type RelationshipView = z.infer<typeof RelationshipView>;

export const FactView = z
  .object({
    subject: z.string().meta({ example: 'customer-1' }),
    predicate: z.string().meta({ example: 'headquarters' }),
    object: z.union([z.string(), z.number(), z.boolean()]).meta({ example: 'Berlin' }),
    object_name: z
      .string()
      .optional()
      .describe('The name of the entity whose id `object` is. Only for questions.')
      .meta({ example: 'Acme' }),
    confidence: z.union([z.number(), z.string()]).meta({ example: 0.9 }),
    valid_from: EpochSeconds.nullable(),
    valid_to: EpochSeconds.nullable().meta({ example: null }),
    provenance: Provenance,
  })
  .meta({ id: 'Fact' });
export type FactView = z.infer<typeof FactView>;

const part = (description: string) => z.number().meta({ description, example: 0.5 });

export const Explanation = z
  .object({
    vectors: z.object({
      used: z.boolean(),
      generations: z
        .array(z.string())
        .describe('The compared vectors of each project, by model and dimensions.')
        .meta({ example: ['3f0c9a1b7d52'] }),
      reason: z
        .string()
        .nullable()
        .describe('Why vectors were not used, for some or all projects.')
        .meta({ example: 'no embedding endpoint is configured' }),
    }),
    reranking: z.object({
      used: z.boolean(),
      model: z.string().nullable().meta({ example: 'bge-reranker-v2-m3' }),
      reason: z.string().nullable().meta({ example: 'no reranking endpoint is configured' }),
    }),
    scores: z.array(
      z.object({
        id: Id,
        project_id: ProjectId,
        text: part('Full text.'),
        vector: part('Vectors.'),
        names: part('The question names the entity or a short value of it.'),
        time: part('The question names a time in which the entity lies.'),
        neighbours: part('The share of the scores of its neighbours.'),
        length: part('A longer text says more.'),
      }),
    ),
  })
  .meta({
    id: 'Explanation',
    description: 'With `explain`: the parts of each score before they are scaled, in the order of the entities.',
  });
export type Explanation = z.infer<typeof Explanation>;

export const ContextAnswer = z
  .object({
    entities: z.array(EntityView),
    relationships: z.array(RelationshipView),
    facts: z.array(FactView),
    rows: z
      .array(z.record(z.string(), z.unknown()))
      .describe('What the query returned, row by row; empty for natural language.'),
    limit: z.int().meta({ example: 50 }),
    truncated: z.boolean().describe('Whether the result exceeds the limit or the maximum size of an answer.'),
    explanation: Explanation.optional(),
  })
  .meta({ id: 'ContextAnswer' });
export type ContextAnswer = z.infer<typeof ContextAnswer>;

export function isEntity({ labels }: Node): boolean {
  return labels.includes('Entity');
}

export function isFact({ labels }: Node): boolean {
  return labels.includes('Fact');
}

/** Returns whether this is an internal link between a fact and an entity, not a relationship of the user. */
export function isLink({ type }: Pick<Relationship, 'type'>): boolean {
  return type === 'HAS_FACT' || type === 'FACT_OBJECT';
}

export function toEntityView({ properties }: Node, score: number, consumed: Consumption): EntityView {
  return {
    id: text(properties.id),
    type: text(properties.type),
    name: text(properties.name),
    properties: fromStored(properties, isOwnProperty),
    score,
    project_id: text(properties.project_id),
    ...shownValidity(properties),
    provenance: provenanceOf(properties, consumed),
  };
}

export function toRelationshipView(
  { type, properties }: Pick<Relationship, 'type' | 'properties'>,
  consumed: Consumption,
): RelationshipView {
  return {
    id: text(properties.id),
    type,
    from: text(properties._from),
    to: text(properties._to),
    properties: fromStored(properties, isOwnRelationshipProperty),
    ...shownValidity(properties),
    provenance: provenanceOf(properties, consumed),
  };
}

function shownValidity(properties: Node['properties']): { valid_from?: number; valid_to?: number } {
  const { valid_from, valid_to } = validityIn(properties);
  return { ...(valid_from !== null && { valid_from }), ...(valid_to !== null && { valid_to }) };
}

/** `objectName` is the name of the entity that the object refers to, if it does and the name was read. */
export function toFactView({ properties }: Node, consumed: Consumption, objectName?: string | null): FactView {
  const time = (value: unknown) => (typeof value === 'number' ? value : null);
  return {
    subject: text(properties.subject),
    predicate: text(properties.predicate),
    object: properties.object as FactView['object'],
    ...(objectName != null && { object_name: objectName }),
    confidence: Number(properties.confidence),
    valid_from: time(properties.valid_from),
    valid_to: time(properties.valid_to),
    provenance: provenanceOf(properties, consumed),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
