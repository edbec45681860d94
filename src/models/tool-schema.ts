import type { ChatTool, ChatToolField } from './port.js';

const types: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);

/** The JSON Schema (2020-12) of a tool's arguments: an object of its fields and no others. */
export function toolSchemaOf({ fields }: Pick<ChatTool, 'fields'>): Record<string, unknown> {
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
    // Some endpoints refuse an array that does not say of what.
    ...(name === 'array' && { items: {} }),
    ...(label !== '' && label !== field_id && { title: label }),
    ...(description !== '' && { description }),
  };
}
