import type { OntologyDefinition, OntologyProperty } from '../../graph/ontology/definition.js';
import type { ChatTool } from '../../models/port.js';

type Schema = Record<string, unknown>;

const jsonTypes: Record<OntologyProperty['type'], Schema> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', description: 'ISO 8601 date' },
  datetime: { type: 'string', description: 'ISO 8601 date and time' },
  object: { type: 'object' },
  array: { type: 'array', items: {} },
  any: {},
};

const text = { type: 'string' };
const quote = { type: 'string', description: 'The words of the text that say so, copied exactly.' };
const times = {
  valid_from: { type: 'string', description: 'ISO 8601, only if the text says since when.' },
  valid_to: {
    type: 'string',
    description:
      'ISO 8601, if the text says until when, or that it no longer holds: then the time of the end, or the time of the text.',
  },
};

/** The types of the ontology that an extraction looks for, with the relationships between them. */
export function narrowed(ontology: OntologyDefinition, chosen: readonly string[] | null): OntologyDefinition {
  const types = chosen ?? Object.keys(ontology.entity_types).filter((type) => !documentTypes.has(type));
  const has = (names?: readonly string[]) => !names || names.some((name) => types.includes(name));
  const entities = Object.entries(ontology.entity_types).filter(([name]) => types.includes(name));
  const relationships = Object.entries(ontology.relationship_types).filter(([, { from, to }]) => has(from) && has(to));
  return { entity_types: Object.fromEntries(entities), relationship_types: Object.fromEntries(relationships) };
}

/** What uploads to the knowledge base write themselves. */
const documentTypes: ReadonlySet<string> = new Set(['Document', 'DocumentChunk']);

/** The only tool of an extraction: its arguments are the ontology as JSON Schema. */
export function extractionTool({ entity_types, relationship_types }: OntologyDefinition): ChatTool {
  const entities = Object.entries(entity_types).map(([type, { description, properties, open }]) => ({
    type: 'object',
    ...(description !== undefined && { description }),
    properties: {
      type: { const: type },
      name: text,
      aliases: { type: 'array', items: text, description: 'Other names that the text gives it.' },
      properties: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, propertyOf(each)])),
        additionalProperties: open,
      },
      quote,
    },
    required: ['type', 'name', 'quote'],
    additionalProperties: false,
  }));
  const isOpen = Object.values(entity_types).some(({ open }) => open);
  const predicates = Object.values(entity_types).flatMap(({ properties }) => Object.keys(properties));
  const facts = {
    type: 'object',
    properties: {
      subject: { ...text, description: 'The name of an entity.' },
      predicate: isOpen ? text : { enum: [...new Set(predicates)] },
      object: { anyOf: [text, { type: 'number' }, { type: 'boolean' }] },
      quote,
      ...times,
    },
    required: ['subject', 'predicate', 'object', 'quote'],
    additionalProperties: false,
  };
  const relationships = {
    type: 'object',
    properties: {
      from: { ...text, description: 'The name of an entity.' },
      type: { enum: Object.keys(relationship_types) },
      to: { ...text, description: 'The name of an entity.' },
      quote,
      ...times,
    },
    required: ['from', 'type', 'to', 'quote'],
    additionalProperties: false,
  };
  return {
    name: 'record_facts',
    description: 'Records what the text says. Call it once, also if the text says nothing of interest.',
    fields: [],
    input_schema: {
      type: 'object',
      properties: {
        entities: { type: 'array', items: { anyOf: entities } },
        ...((isOpen || predicates.length > 0) && { facts: { type: 'array', items: facts } }),
        ...(Object.keys(relationship_types).length > 0 && { relationships: { type: 'array', items: relationships } }),
      },
      required: ['entities'],
      additionalProperties: false,
    },
  };
}

function propertyOf({ type, description }: OntologyProperty): Schema {
  return { ...jsonTypes[type], ...(description !== undefined && { description }) };
}
