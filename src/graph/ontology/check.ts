import { z } from 'zod';
import type { JsonMap } from '../store/values.js';
import type { OntologyDefinition, OntologyProperty, PropertyType } from './definition.js';
import { isJsonObject } from '../../base/json.js';

/** A violation. `place` is the path in the checked input, such as `properties.segment`. Contains no values. */
export interface Problem {
  place: string;
  says: string;
}

const date = z.iso.date();
const datetime = z.iso.datetime({ offset: true, local: true });

const isOfType: Record<PropertyType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  date: (value) => date.safeParse(value).success,
  datetime: (value) => datetime.safeParse(value).success,
  object: isJsonObject,
  array: Array.isArray,
  any: () => true,
};

/** Returns the reasons why an entity does not match its ontology. Empty if there is no ontology. */
export function checkEntity(
  ontology: OntologyDefinition | null,
  entity: { type: string; properties: JsonMap },
): Problem[] {
  if (!ontology) return [];
  if (!Object.hasOwn(ontology.entity_types, entity.type)) return [unknownType(entity.type, ontology.entity_types)];
  const type = ontology.entity_types[entity.type];
  return type ? checkProperties(type, entity.properties) : [];
}

export function checkRelationship(
  ontology: OntologyDefinition | null,
  relationship: { type: string; fromType: string; toType: string; properties: JsonMap },
): Problem[] {
  if (!ontology) return [];
  const types = ontology.relationship_types;
  const type = Object.hasOwn(types, relationship.type) ? types[relationship.type] : undefined;
  if (!type) return [unknownType(relationship.type, types)];
  return [
    ...checkEnd('from', type.from, relationship.fromType, relationship.type),
    ...checkEnd('to', type.to, relationship.toType, relationship.type),
    ...checkProperties(type, relationship.properties),
  ];
}

function checkEnd(
  place: string,
  allowed: readonly string[] | undefined,
  type: string,
  relationship: string,
): Problem[] {
  if (!allowed || allowed.includes(type)) return [];
  return [{ place, says: `${relationship} takes ${allowed.join(' or ')} there, not ${type}` }];
}

function checkProperties(
  type: { open: boolean; properties: Record<string, OntologyProperty> },
  properties: JsonMap,
): Problem[] {
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(properties)) {
    const property = Object.hasOwn(type.properties, name) ? type.properties[name] : undefined;
    const place = `properties.${name}`;
    if (!property && !type.open) problems.push({ place, says: 'is not a property of this type' });
    if (property && value !== null && !isOfType[property.type](value))
      problems.push({ place, says: `must be of type ${property.type}` });
  }
  for (const [name, { required }] of Object.entries(type.properties)) {
    const missing = !Object.hasOwn(properties, name) || properties[name] === null;
    if (required && missing) problems.push({ place: `properties.${name}`, says: 'is required' });
  }
  return problems;
}

function unknownType(type: string, known: object): Problem {
  return {
    place: 'type',
    says: `${type} is not a type of the ontology; its types are: ${Object.keys(known).slice(0, 20).join(', ') || 'none'}`,
  };
}
