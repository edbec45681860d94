import { z } from 'zod';
import { EntityId, EntityName, PropertyName, TypeName } from '../store/names.js';
import { largestTime } from '../../base/time.js';
import { VisibleText } from '../../base/validation.js';
import type { Json } from '../store/values.js';

export const saveBounds = {
  entities: 1000,
  relationships: 2000,
  facts: 1000,
  valueLength: 32_768,
  depth: 8,
  properties: 200,
  element: 1_000_000,
};

/**
 * A time in epoch seconds, or in ISO 8601 with a time zone. The result is epoch seconds. The published schema omits the
 * bounds.
 */
export const Time = z
  .union([z.number().min(-largestTime).max(largestTime), z.iso.datetime({ offset: true })])
  .transform((time) => (typeof time === 'number' ? time : Date.parse(time) / 1000))
  .describe('Epoch seconds, or ISO 8601 with its zone.');

/**
 * Any JSON value. The body is already JSON, and `z.json()` tries every type at each level, which takes a second for a
 * large value.
 */
export const PropertyValue = z.unknown().superRefine((value, context) => {
  const problem = problemOf(value as Json);
  if (problem) context.addIssue({ code: 'custom', message: problem });
}) as z.ZodType<Json>;

const Properties = z
  .record(PropertyName, PropertyValue)
  .default({})
  .refine(
    (map) => Object.keys(map).length <= saveBounds.properties,
    `has more than ${saveBounds.properties} properties`,
  )
  .describe('Merged into the stored properties; null removes a property.');

const NamedEntity = z.strictObject({ type: TypeName, name: EntityName }).meta({ id: 'NamedEntity' });
/** A reference: the id of an entity, the name of one entity in the same call, or type and name. */
const EntityRef = z.union([EntityId, NamedEntity]);
export type EntityRef = z.infer<typeof EntityRef>;

/** The validity. For an entity or relationship, null removes the stored time, and a missing time does not change it. */
const validity = { valid_from: Time.nullish(), valid_to: Time.nullish() };
type GivenValidity = z.infer<z.ZodObject<typeof validity>>;
const inOrder = ({ valid_from: from, valid_to: to }: GivenValidity) => from == null || to == null || from < to;
export const outOfOrder = 'must be after valid_from';
const notInOrder = { path: ['valid_to'], message: outOfOrder };

export const EntityInput = z
  .strictObject({ id: EntityId.optional(), type: TypeName, name: EntityName, properties: Properties, ...validity })
  .refine(inOrder, notInOrder)
  .meta({ id: 'EntityInput' });
const RelationshipInput = z
  .strictObject({ from: EntityRef, type: TypeName, to: EntityRef, properties: Properties, ...validity })
  .refine(inOrder, notInOrder)
  .meta({ id: 'RelationshipInput' });
const FactInput = z
  .strictObject({
    subject: EntityRef,
    predicate: VisibleText.normalize('NFC')
      .min(1)
      .max(200)
      .refine((text) => text.isWellFormed(), 'contains an incomplete character'),
    object: z.union([
      z
        .string()
        .normalize('NFC')
        .max(saveBounds.valueLength)
        .refine((text) => text.isWellFormed(), 'contains an incomplete character'),
      z.number(),
      z.boolean(),
      NamedEntity,
    ]),
    confidence: z.number().min(0).max(1).default(1),
    ...validity,
  })
  .refine(inOrder, notInOrder)
  .meta({ id: 'FactInput' });

const source = z.string().trim().min(1).max(300).optional().describe('Where this was learned.');
const entities = z.array(EntityInput).max(saveBounds.entities).default([]);
const relationships = z.array(RelationshipInput).max(saveBounds.relationships).default([]);

export const SaveInput = z
  .strictObject({ entities, relationships, facts: z.array(FactInput).max(saveBounds.facts).default([]), source })
  .refine(
    (input) => input.entities.length + input.relationships.length + input.facts.length > 0,
    'names nothing to save',
  )
  .meta({
    id: 'SaveContext',
    example: {
      entities: [
        { type: 'Customer', name: 'Acme', properties: { segment: 'enterprise' } },
        { id: 'product-1', type: 'Product', name: 'Compiler', properties: { price: 99.5 } },
      ],
      relationships: [{ from: { type: 'Customer', name: 'Acme' }, type: 'OWNS', to: 'product-1', properties: {} }],
      facts: [
        {
          subject: { type: 'Customer', name: 'Acme' },
          predicate: 'headquarters',
          object: 'Berlin',
          valid_from: '2024-01-01T00:00:00Z',
        },
      ],
      source: 'crm export',
    },
  });
export type SaveInput = z.infer<typeof SaveInput>;

export const IngestInput = z
  .strictObject({ source: source.unwrap(), entities, relationships })
  .refine((input) => input.entities.length + input.relationships.length > 0, 'names nothing to save')
  .meta({
    id: 'CatalogIngest',
    example: {
      source: 'catalog',
      entities: [{ id: 'table-1', type: 'Table', name: 'orders', properties: { rows: 120 } }],
      relationships: [],
    },
  });

function problemOf(value: Json, depth = 0): string | undefined {
  if (typeof value === 'string') {
    if (value.length > saveBounds.valueLength) return `is longer than ${saveBounds.valueLength} characters`;
    return value.isWellFormed() ? undefined : 'contains an incomplete character';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= saveBounds.depth) return `is deeper than ${saveBounds.depth}`;
  for (const each of Object.values(value)) {
    const problem = problemOf(each, depth + 1);
    if (problem) return problem;
  }
  // Convert only a value that is not nested too deeply.
  return depth === 0 && JSON.stringify(value).length > saveBounds.valueLength
    ? `is longer than ${saveBounds.valueLength} characters`
    : undefined;
}
