import { z } from 'zod';
import { PropertyName, TypeName } from '../store/names.js';
import { UserId } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';

export const PropertyType = z.enum([
  'string',
  'number',
  'integer',
  'boolean',
  'date',
  'datetime',
  'object',
  'array',
  'any',
]);
export type PropertyType = z.infer<typeof PropertyType>;

const Description = z.string().max(2000).meta({ example: 'Someone who buys from us' });

const SingleValued = z
  .boolean()
  .optional()
  .describe('At most one fact with this predicate is valid at a time: each new value replaces the others.')
  .meta({ example: true });

export const OntologyProperty = z.strictObject({
  type: PropertyType.default('any').describe('`date` and `datetime` are ISO 8601 texts.'),
  required: z.boolean().default(false),
  personal: z.boolean().default(false).describe('Personal data: stored, but never returned.'),
  multi_valued: z.boolean().default(false).describe('Several facts with this predicate can be valid at the same time.'),
  single_valued: SingleValued,
  description: Description.optional(),
});
export type OntologyProperty = z.infer<typeof OntologyProperty>;

const properties = z
  .record(PropertyName, OntologyProperty)
  .default({})
  .refine((map) => Object.keys(map).length <= 200, 'has more than 200 properties');
const open = z.boolean().default(false).describe('Accepts properties that are not listed here.');

const EntityType = z.strictObject({ description: Description.optional(), properties, open });
const RelationshipType = z.strictObject({
  description: Description.optional(),
  from: z.array(TypeName).min(1).max(200).optional().describe('Types of the start entity. Any type if omitted.'),
  to: z.array(TypeName).min(1).max(200).optional(),
  properties,
  open,
  multi_valued: z
    .boolean()
    .default(false)
    .describe('The default for relationships: several can be valid at the same time.'),
  single_valued: SingleValued,
});

const few = (map: object) => Object.keys(map).length <= 300;

const exampleUser = '0199a6ed-4c5d-7f21-8a9b-0c1d2e3f4a5b';
const exampleTypes = {
  entity_types: {
    Customer: { properties: { segment: { type: 'string', required: true }, ssn: { type: 'string', personal: true } } },
    Product: { properties: { price: { type: 'number' } } },
  },
  relationship_types: { OWNS: { from: ['Customer'], to: ['Product'], properties: { since: { type: 'date' } } } },
};

interface ValuesDeclared {
  multi_valued: boolean;
  single_valued?: boolean | undefined;
}

interface TypesDeclared {
  entity_types: Record<string, { properties: Record<string, ValuesDeclared> }>;
  relationship_types: Record<string, ValuesDeclared & { properties: Record<string, ValuesDeclared> }>;
}

/** The paths of what is declared as multi-valued and as single-valued. */
function declaredTwice(definition: TypesDeclared): string[][] {
  const isTwice = ({ multi_valued, single_valued }: ValuesDeclared) => multi_valued && single_valued === true;
  const relationships = Object.entries(definition.relationship_types).filter(([, type]) => isTwice(type));
  const properties = (['entity_types', 'relationship_types'] as const).flatMap((kind) =>
    Object.entries(definition[kind]).flatMap(([type, declared]) =>
      Object.entries(declared.properties)
        .filter(([, property]) => isTwice(property))
        .map(([name]) => [kind, type, 'properties', name]),
    ),
  );
  return [...relationships.map(([name]) => ['relationship_types', name]), ...properties];
}

export const OntologyDefinition = z
  .strictObject({
    entity_types: z.record(TypeName, EntityType).refine(few, 'has more than 300 types'),
    relationship_types: z.record(TypeName, RelationshipType).default({}).refine(few, 'has more than 300 types'),
  })
  .superRefine(({ entity_types, relationship_types }, context) => {
    for (const path of declaredTwice({ entity_types, relationship_types })) {
      context.addIssue({ code: 'custom', path, message: 'is either multi_valued or single_valued, not both' });
    }
    for (const [name, { from = [], to = [] }] of Object.entries(relationship_types)) {
      for (const type of [...from, ...to]) {
        if (!Object.hasOwn(entity_types, type)) {
          context.addIssue({
            code: 'custom',
            path: ['relationship_types', name],
            message: `names ${type}, which is not an entity type`,
          });
        }
      }
    }
  })
  .meta({ id: 'OntologyDefinition', example: exampleTypes });
export type OntologyDefinition = z.infer<typeof OntologyDefinition>;

export const Ontology = z
  .object({
    version: z.int().meta({ example: 3 }),
    committed_at: EpochSeconds.describe('Epoch seconds.'),
    committed_by: UserId,
    ...OntologyDefinition.shape,
  })
  .meta({ example: { version: 3, committed_at: 1764000000.5, committed_by: exampleUser, ...exampleTypes } });
export type Ontology = z.infer<typeof Ontology>;

const none: ReadonlySet<string> = new Set();

/** Returns the names of the personal properties of one type. */
export function personalOf(
  ontology: OntologyDefinition | null,
  kind: 'entity_types' | 'relationship_types',
  type: string,
): ReadonlySet<string> {
  const types = ontology?.[kind];
  if (!types || !Object.hasOwn(types, type)) return none;
  const marked = Object.entries(types[type]?.properties ?? {}).filter(([, { personal }]) => personal);
  return new Set(marked.map(([name]) => name));
}

/** Returns the predicates whose object is personal: every property name that some type marks as personal. */
export function personalPredicates(ontology: OntologyDefinition | null): ReadonlySet<string> {
  return predicatesWhere(ontology, ({ personal }) => personal);
}

function predicatesWhere(
  ontology: OntologyDefinition | null,
  holds: (property: OntologyProperty) => boolean,
): ReadonlySet<string> {
  if (!ontology) return none;
  const types = [...Object.values(ontology.entity_types), ...Object.values(ontology.relationship_types)];
  return new Set(
    types.flatMap((type) =>
      Object.entries(type.properties)
        .filter(([, each]) => holds(each))
        .map(([name]) => name),
    ),
  );
}

/** Adds the personal properties of the second definition to the first one. Only for sealing. */
export function withPersonalOf(definition: OntologyDefinition, other: OntologyDefinition | null): OntologyDefinition {
  const merged = structuredClone(definition);
  for (const kind of ['entity_types', 'relationship_types'] as const) {
    for (const type of Object.keys(other?.[kind] ?? {})) {
      for (const name of personalOf(other, kind, type)) {
        merged[kind][type] ??= { properties: {}, open: true, multi_valued: false };
        merged[kind][type].properties[name] = { type: 'any', required: false, multi_valued: false, personal: true };
      }
    }
  }
  return merged;
}
