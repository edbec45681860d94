import type { SchemaField } from '../../../../workflows/agentflow-execution/schema-field.js';
import { isJsonObject, type JsonObject } from '../../../base/json.js';

const fieldTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);

/** The top level of a JSON Schema as fields, which fill the input of a call and which previews show. */
export function fieldsOfSchema({ properties, required }: JsonObject): SchemaField[] {
  const names: unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([field_id, schema]) => {
    const { type, description }: JsonObject = isJsonObject(schema) ? schema : {};
    return {
      field_id,
      label: field_id,
      type: fieldTypes.has(type) ? String(type) : 'any',
      required: names.includes(field_id),
      description: typeof description === 'string' ? description : '',
    };
  });
}
