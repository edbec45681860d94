import type { ConnectorDocument, DataLoaderConfig } from './record.js';
import { AppError } from '../../base/errors.js';
import { graphName, graphText } from '../../graph/graph-text.js';
import { EntityInput } from '../../graph/save/input.js';
import { derivedId, PropertyName } from '../../graph/store/names.js';
import type { z } from 'zod';
import { isJsonObject } from '../../base/json.js';

type Entity = z.infer<typeof EntityInput>;

const defaultFields = ['data', 'items', 'records', 'results'];

/**
 * Finds the list of records in an answer: the answer itself, the configured field, or a field with a common name.
 * @throws AppError `validation_failed`
 */
export function recordsIn({ records_field }: DataLoaderConfig, answer: unknown): unknown[] {
  if (Array.isArray(answer) && records_field === undefined) return answer;
  const fields = records_field === undefined ? defaultFields : [records_field];
  const list = isJsonObject(answer)
    ? fields.map((field) => (Object.hasOwn(answer, field) ? answer[field] : undefined)).find(Array.isArray)
    : undefined;
  if (!list)
    throw new AppError('validation_failed', `the answer must contain a list of records in ${fields.join(', ')}`);
  return list;
}

type Source = Pick<ConnectorDocument, '_id' | 'name' | 'data_loader_config'>;

/**
 * Converts records to entities. The entity id derives from the connector and the record's id or name, so that the next
 * load updates the same entity. Omits properties that the graph cannot store, and skips records without id and name. If
 * two records have the same key, the later one is used.
 */
export function entitiesOf(
  connector: Source,
  records: readonly unknown[],
): { entities: (Entity & { id: string })[]; skipped: number } {
  const converted = records.map((record) => entityOf(connector, record));
  const entities = new Map(converted.flatMap((entity) => (entity ? [[entity.id, entity]] : [])));
  return { entities: [...entities.values()], skipped: converted.filter((entity) => !entity).length };
}

function entityOf({ _id, name, data_loader_config }: Source, record: unknown): (Entity & { id: string }) | undefined {
  if (!isJsonObject(record)) return undefined;
  const { id_field = 'id', name_field = 'name', entity_type = typeFrom(name) } = data_loader_config;
  const title = textOf(record[name_field]);
  const key = textOf(record[id_field]) ?? title;
  if (key === undefined) return undefined;
  const properties = Object.entries(record)
    .filter(([field]) => field !== name_field && field !== id_field)
    .flatMap(propertyOf)
    .slice(0, 198);
  const id = derivedId('connector', _id, key);
  const entity = EntityInput.safeParse({
    id,
    type: entity_type,
    name: graphName(title ?? `${entity_type} ${key}`),
    properties: { ...Object.fromEntries(properties), source_id: graphText(key, 1000) },
  }).data;
  return entity && { ...entity, id };
}

/** Renames a property whose name is reserved or invalid in the graph, and omits one with an invalid value. */
function propertyOf([field, value]: [string, unknown]): [string, unknown][] {
  const name = PropertyName.safeParse(field).success
    ? field
    : `source_${field.replace(/[^\p{L}\p{N}_ .-]/gu, '_')}`.slice(0, 100).trim();
  return EntityInput.shape.properties.safeParse({ [name]: value }).success ? [[name, value]] : [];
}

function typeFrom(name: string): string {
  const words = name
    .replace(/[^\p{L}\p{N}_ -]/gu, ' ')
    .replace(/^[^\p{L}]+/u, '')
    .trim()
    .slice(0, 100)
    .trim();
  return words === '' ? 'Record' : words;
}

function textOf(value: unknown): string | undefined {
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number' ? String(value) : undefined;
}
