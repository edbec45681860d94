import type { RequestHandler } from 'express';
import type { Deps } from '../deps.js';
import type { Route } from '../http/define-route.js';
import { createCatalogNotifier } from './catalog/notify.js';
import { createCatalogScope } from './catalog/scope.js';
import { createDeliveries } from './deliveries.js';
import { createForwarder } from './forward.js';
import { createReceive } from './receive.js';
import { receiverRoutes } from './receiver-routes.js';
import type { Receiver } from './receiver.js';
import { catalogEvents } from './receivers/catalog-events.js';
import { catalogIngest } from './receivers/catalog-ingest.js';
import { forwardedReceivers } from './receivers/forwarded.js';
import { githubPush } from './receivers/github-push.js';
import { createServiceRecorder } from './service-record.js';
import { createCodeSyncStarter } from './start-code-sync.js';

export interface Callbacks {
  receive: RequestHandler;
  /** What the API reference says of them. */
  routes: readonly Route[];
}

/** The nine receivers (specification, Inbound callback receivers), to be mounted before anything that reads bodies. */
export function createCallbacks(deps: Deps, downstreamUrl: () => string): Callbacks {
  const { config, mongo } = deps;
  const receivers = receiversOf(deps, downstreamUrl);
  const deliveries = createDeliveries(mongo.collections);
  return {
    receive: createReceive({ receivers, deliveries, bodyLimit: config.callbacks.bodyLimit, observe: deps.metrics.callback }),
    routes: receiverRoutes(receivers),
  };
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
