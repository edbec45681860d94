import type { RequestHandler } from 'express';
import type { Deps } from '../deps.js';
import { createCatalogNotifier } from './catalog/notify.js';
import { createCatalogScope } from './catalog/scope.js';
import { createDeliveries } from './deliveries.js';
import { createForwarder } from './forward.js';
import { createReceive } from './receive.js';
import type { Receiver } from './receiver.js';
import { catalogEvents } from './receivers/catalog-events.js';
import { catalogIngest } from './receivers/catalog-ingest.js';
import { forwardedReceivers } from './receivers/forwarded.js';
import { githubPush } from './receivers/github-push.js';
import { createServiceRecorder } from './service-record.js';
import { createCodeSyncStarter } from './start-code-sync.js';

/** The nine receivers (specification, Inbound callback receivers), to be mounted before anything that reads bodies. */
export function createCallbacks(deps: Deps, downstreamUrl: () => string): RequestHandler {
  const { config, mongo } = deps;
  return createReceive({
    receivers: receiversOf(deps, downstreamUrl),
    deliveries: createDeliveries(mongo.collections),
    bodyLimit: config.callbacks.bodyLimit,
  });
}

function receiversOf({ config, mongo, graph, temporal, governance }: Deps, downstreamUrl: () => string): Receiver[] {
  const { codesyncSecret, catalogSecret, serverKey, timeoutMs } = config.callbacks;
  const { collections } = mongo;
  return [
    githubPush({ secret: codesyncSecret, collections, startCodeSync: createCodeSyncStarter(temporal) }),
    catalogEvents({ secret: catalogSecret, scope: createCatalogScope({ config, mongo }), notify: createCatalogNotifier({ temporal, config }) }),
    catalogIngest({ serverKey, mongo, graph, record: createServiceRecorder({ collections, audit: governance.audit }) }),
    ...forwardedReceivers(createForwarder({ downstreamUrl, timeoutMs })),
  ];
}
