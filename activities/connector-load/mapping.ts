import type { ConnectorDocument, DataLoaderConfig } from '../../src/connectors/connector.js';
import { AppError } from '../../src/errors.js';
import { EntityInput } from '../../src/graph/save/input.js';
import { derivedId, PropertyName } from '../../src/graph/store/names.js';
import type { z } from 'zod';

type JsonObject = Record<string, unknown>;
type Entity = z.infer<typeof EntityInput>;

const usualLists = ['data', 'items', 'records', 'results'];

/**
 * The list of records in an answer: the answer itself, or the field that the loader names, or one of the usual names.
 * @throws AppError `validation_failed`
 */
export function recordsIn({ records_field }: DataLoaderConfig, answer: unknown): unknown[] {
  if (Array.isArray(answer) && records_field === undefined) return answer;
  const fields = records_field === undefined ? usualLists : [records_field];
  const list = isObject(answer) ? fields.map((field) => (Object.hasOwn(answer, field) ? answer[field] : undefined)).find(Array.isArray) : undefined;
  if (!list) throw new AppError('validation_failed', `the answer holds no list of records in ${fields.join(', ')}`);
  return list;
}

type Source = Pick<ConnectorDocument, '_id' | 'name' | 'data_loader_config'>;

/**
 * Records as entities, keyed by connector and record id (or name), so that the next load finds them again. A property that
 * the graph cannot hold is left out; a record without id and name is skipped. Of two with one key the later counts.
 */
export function entitiesOf(connector: Source, records: readonly unknown[]): { entities: Entity[]; skipped: number } {
  const made = records.map((record) => entityOf(connector, record));
  const entities = new Map(made.flatMap((entity) => (entity ? [[entity.id, entity]] : [])));
  return { entities: [...entities.values()], skipped: made.filter((entity) => !entity).length };
}

function entityOf({ _id, name, data_loader_config }: Source, record: unknown): Entity | undefined {
  if (!isObject(record)) return undefined;
  const { id_field = 'id', name_field = 'name', entity_type = typeFrom(name) } = data_loader_config;
  const title = textOf(record[name_field]);
  const key = textOf(record[id_field]) ?? title;
  if (key === undefined) return undefined;
  const properties = Object.entries(record).filter(([field]) => field !== name_field && field !== id_field).flatMap(propertyOf).slice(0, 198);
  return EntityInput.safeParse({
    id: derivedId('connector', _id, key),
    type: entity_type,
    name: nameFrom(title ?? `${entity_type} ${key}`),
    properties: { ...Object.fromEntries(properties), source_id: key.slice(0, 1000) },
  }).data;
}

/** A name that the graph keeps for itself, or cannot hold, gets another. */
function propertyOf([field, value]: [string, unknown]): [string, unknown][] {
  const name = PropertyName.safeParse(field).success ? field : `source_${field.replace(/[^\p{L}\p{N}_ .-]/gu, '_')}`.slice(0, 100).trim();
  return EntityInput.shape.properties.safeParse({ [name]: value }).success ? [[name, value]] : [];
}

function typeFrom(name: string): string {
  const words = name.replace(/[^\p{L}\p{N}_ -]/gu, ' ').replace(/^[^\p{L}]+/u, '').trim().slice(0, 100).trim();
  return words === '' ? 'Record' : words;
}

function nameFrom(text: string): string {
  return text.replace(/[\u0000-\u001F\u007F\p{Surrogate}]/gu, ' ').trim().slice(0, 500).trim() || 'unnamed';
}

function textOf(value: unknown): string | undefined {
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number' ? String(value) : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
