import { AppError } from '../../../base/errors.js';
import type { CatalogScope } from '../../../../workflows/catalog-sync/messages.js';
import type { NotifyCatalog } from '../../../domain/catalog/notify.js';
import type { ReadBody } from '../read-body.js';
import { accepted, ignored, type Receiver } from '../receiver.js';
import { catalogForm, verifySignature } from '../signature.js';

interface CatalogEventsOptions {
  secret: string | undefined;
  read: ReadBody;
  scope(): Promise<CatalogScope>;
  notify: NotifyCatalog;
}

export function catalogEvents({ secret, read, scope, notify }: CatalogEventsOptions): Receiver {
  return {
    path: '/v1/catalog/om/webhook',
    summary: 'Alerts of the data catalog: one event or an array of them, signed',
    admit() {
      if (secret === undefined) throw new AppError('unconfigured', 'the catalog receiver has no secret configured');
    },
    verify: ({ header, body }) => verifySignature(header('x-om-signature'), catalogForm, secret ?? '', body),
    async handOver({ body }) {
      const changes = await read('readCatalogEvents', { body, contentType: undefined });
      if (changes === 'test') return ignored('a test message, which contains no event');
      if (changes.events > 0) await notify(await scope(), changes);
      // The specification names this status (Catalog change, 1).
      return accepted(202);
    },
  };
}
