import { z } from 'zod';
import { checkShape, parseJson } from '../parse-body.js';
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

/** The number of events about data, and the first entities that they name. @throws AppError `invalid_request` */
export function readCatalogEvents({ body }: RawBody): CatalogEvents {
  const events = checkShape(Body, parseJson(body)).filter(({ entityType }) => isOfData(entityType));
  const entities = events
    .slice(0, shownEntities)
    .map((event) => (event.entityFQN ?? event.entityId ?? event.entityType).slice(0, 200));
  return { events: events.length, entities };
}

function isOfData(entityType: string): boolean {
  return !ignoredKinds.has(
    entityType
      .slice(0, 200)
      .toLowerCase()
      .replace(/[^a-z]/g, ''),
  );
}
