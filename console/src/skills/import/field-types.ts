import { isFields, text, type Fields } from '../../agentflows/document.js';
import { descriptionOf, maxFields } from './limits.js';
import type { ImportedField } from './imported.js';

/** Returns the type that a field needs to accept the value. */
export function typeOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'string';
  return isFields(value) ? 'object' : 'any';
}

/** Returns the fields of an example, without their values. */
export function fieldsOfExample(example: Fields): ImportedField[] {
  return Object.entries(example)
    .filter(([name]) => name !== '' && name.length <= 200)
    .slice(0, maxFields)
    .map(([field_id, value]) => ({ field_id, type: typeOfValue(value), required: value !== null, description: '' }));
}

const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);

/** Returns the type and the description of a JSON Schema whose references are followed. */
export function ofSchema(schema: Fields): { type: string; description: string } {
  const { type, description, enum: choices } = schema;
  // A field that is null counts as absent, so null needs no type of its own.
  const named = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null');
  const only: unknown = named[0];
  const isKnown = named.length === 1 && typeof only === 'string' && types.has(only);
  const allowed = Array.isArray(choices) && choices.length > 0 ? `One of: ${choices.map(String).join(', ')}.` : '';
  return {
    type: isKnown ? only : 'any',
    description: descriptionOf([text(description).trim(), allowed].filter(Boolean).join(' ')),
  };
}
