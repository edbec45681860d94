import { z } from 'zod';
import { AppError } from '../../errors.js';
import type { CatalogScope } from '../../../workflows/catalog-sync/messages.js';
import type { NotifyCatalog } from '../catalog/notify.js';
import { checkShape, parseJson } from '../parse-body.js';
import { accepted, type Receiver } from '../receiver.js';
import { catalogForm, verifySignature } from '../signature.js';

/** Catalogs send more fields than these, and not every one with every kind of event (specification, Catalog change). */
const CatalogEvent = z.object({
  eventType: z.string(),
  entityType: z.string(),
  entityId: z.string().nullish(),
  entityFQN: z.string().nullish(),
  changeType: z.string().nullish(),
  timestamp: z.int().nullish(),
});
const Body = z.union([z.array(CatalogEvent), CatalogEvent.transform((event) => [event])]);

/** Kinds that change nothing of what the catalog knows about data. */
const ignoredKinds: ReadonlySet<string> = new Set([
  'user', 'team', 'bot', 'role', 'policy', 'persona', 'testcase', 'testsuite', 'testdefinition', 'testcaseresult', 'testcaseresolutionstatus',
]);
const shownEntities = 5;

export interface CatalogEventsOptions {
  secret: string | undefined;
  scope(): Promise<CatalogScope>;
  notify: NotifyCatalog;
}

export function catalogEvents({ secret, scope, notify }: CatalogEventsOptions): Receiver {
  return {
    path: '/v1/catalog/om/webhook',
    summary: 'Alerts of the data catalog: one event or an array of them, signed',
    admit() {
      if (secret === undefined) throw new AppError('unconfigured', 'the catalog receiver has no secret configured');
    },
    verify: ({ header, body }) => verifySignature(header('x-om-signature'), catalogForm, secret ?? '', body),
    async handOver({ body }) {
      const events = checkShape(Body, parseJson(body)).filter(({ entityType }) => isOfData(entityType));
      if (events.length === 0) return accepted();
      const entities = events.slice(0, shownEntities).map((event) => (event.entityFQN ?? event.entityId ?? event.entityType).slice(0, 200));
      await notify(await scope(), { events: events.length, entities });
      return accepted();
    },
  };
}

function isOfData(entityType: string): boolean {
  return !ignoredKinds.has(entityType.toLowerCase().replace(/[^a-z]/g, ''));
}
