import { z } from 'zod';
import { isJsonObject, parseJsonOrUndefined } from '../../../base/json.js';
import { checkShape, parseCallbackJson } from '../parse-body.js';
import type { RawBody } from '../callback-body.js';
import type { CatalogEvents } from '../../../domain/catalog/notify.js';

/** Catalogs send additional fields, and not every event contains every field (specification, Catalog change). */
const CatalogEvent = z.object({
  eventType: z.string(),
  entityType: z.string(),
  entityId: z.string().nullish(),
  entityFQN: z.string().nullish(),
  changeType: z.string().nullish(),
  timestamp: z.int().nullish(),
});
const Body = z.union([z.array(CatalogEvent), CatalogEvent.transform((event) => [event])]);

/** Kinds of events that do not change the catalog's data. */
const ignoredKinds: ReadonlySet<string> = new Set([
  'user',
  'team',
  'bot',
  'role',
  'policy',
  'persona',
  'testcase',
  'testsuite',
  'testdefinition',
  'testcaseresult',
  'testcaseresolutionstatus',
]);
const shownEntities = 5;

/**
 * Returns the number of events about data, and the first entities that they name, or `test` for the message with which
 * OpenMetadata tests an address: an object without an event, and in older releases a sentence.
 * @throws AppError `invalid_request`
 */
export function readCatalogEvents({ body }: RawBody): CatalogEvents | 'test' {
  if (isSentence(body)) return 'test';
  const value = parseCallbackJson(body);
  if (isJsonObject(value) && value.eventType === undefined && value.entityType === undefined) return 'test';
  const events = checkShape(Body, value).filter(({ entityType }) => isOfData(entityType));
  const entities = events
    .slice(0, shownEntities)
    .map((event) => (event.entityFQN ?? event.entityId ?? event.entityType).slice(0, 200));
  return { events: events.length, entities };
}

const maxSentenceBytes = 1000;

function isSentence(body: Uint8Array): boolean {
  if (body.length > maxSentenceBytes) return false;
  const text = Buffer.from(body).toString('utf8');
  return /^\s*\p{L}+\s/u.test(text) && parseJsonOrUndefined(text) === undefined;
}

function isOfData(entityType: string): boolean {
  return !ignoredKinds.has(
    entityType
      .slice(0, 200)
      .toLowerCase()
      .replace(/[^a-z]/g, ''),
  );
}
