import { fieldsOf } from '../fields-of.js';
import type { components } from '@client/openapi.js';

export type OntologyState = components['schemas']['OntologyState'];
export type Definition = components['schemas']['OntologyDefinition'];

/** A property or a type with its name, and with everything that the form does not have. */
export interface Named {
  name: string;
  value: Record<string, unknown>;
}

/** What a person edits: lists, which keep two entries whose names are equal while one of them is typed. */
export interface Edited {
  entities: NamedType[];
  relationships: NamedType[];
}

export interface NamedType extends Named {
  properties: Named[];
}

/** Returns the draft or, without one, the version in force. */
export function editedOf({ draft, ontology }: Pick<OntologyState, 'draft' | 'ontology'>): Edited {
  const { entity_types, relationship_types } = fieldsOf(draft ?? ontology);
  return { entities: typesOf(entity_types), relationships: typesOf(relationship_types) };
}

const namedOf = (map: unknown): Named[] =>
  Object.entries(fieldsOf(map)).map(([name, value]) => ({ name, value: fieldsOf(value) }));

const typesOf = (map: unknown): NamedType[] =>
  namedOf(map).map(({ name, value: { properties, ...value } }) => ({ name, value, properties: namedOf(properties) }));

/** Returns what the API accepts, which checks it. */
export function definitionOf({ entities, relationships }: Edited): Definition {
  const definition = { entity_types: mapOf(entities), relationship_types: mapOf(relationships) };
  return definition;
}

const mapOf = (types: readonly NamedType[]) =>
  Object.fromEntries(
    types.map(({ name, value, properties }) => [
      name.trim(),
      { ...value, properties: Object.fromEntries(properties.map((each) => [each.name.trim(), each.value])) },
    ]),
  );

/** Returns the first name that two entries of a list have; undefined if there is none. */
export function repeatedName({ entities, relationships }: Edited): string | undefined {
  const lists: readonly (readonly Named[])[] = [
    entities,
    relationships,
    ...[...entities, ...relationships].map(({ properties }) => properties),
  ];
  return lists
    .flatMap((list) =>
      list.filter(({ name }, at) => list.findIndex((other) => other.name.trim() === name.trim()) !== at),
    )
    .map(({ name }) => name.trim())[0];
}
