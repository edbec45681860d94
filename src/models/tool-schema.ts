import type { ChatTool, ChatToolField } from './port.js';

const types: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);

/**
 * Returns the JSON Schema (2020-12) of a tool's arguments: the tool's own schema, or an object with its fields only.
 */
export function toolSchemaOf({
  fields,
  input_schema: own,
}: Pick<ChatTool, 'fields' | 'input_schema'>): Record<string, unknown> {
  if (own) return own;
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.field_id, propertyOf(field)])),
    required: fields.filter(({ required }) => required).map(({ field_id }) => field_id),
    additionalProperties: false,
  };
}

function propertyOf({ field_id, label, type, description }: ChatToolField): Record<string, unknown> {
  const name = type.toLowerCase();
  return {
    ...(types.has(name) && { type: name }),
    // Some endpoints refuse an array without `items`.
    ...(name === 'array' && { items: {} }),
    ...(label !== '' && label !== field_id && { title: label }),
    ...(description !== '' && { description }),
  };
}
