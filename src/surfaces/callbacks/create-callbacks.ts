import type { RequestHandler } from 'express';
import type { Deps } from '../../domain/deps.js';
import type { Route } from '../rest/define-route.js';
import { createCatalogNotifier } from '../../domain/catalog/notify.js';
import { createCatalogScope } from '../../domain/catalog/scope.js';
import { createDeliveries } from '../../domain/connectors/deliveries.js';
import { createForwarder } from './forward.js';
import { createReceive } from './receive.js';
import { receiverRoutes } from './receiver-routes.js';
import { createReadBody } from './read-body.js';
import type { Receiver } from './receiver.js';
import { catalogEvents } from './receivers/catalog-events.js';
import { catalogIngest } from './receivers/catalog-ingest.js';
import { forwardedReceivers } from './receivers/forwarded.js';
import { githubPush } from './receivers/github-push.js';
import { createPushSignature } from './receivers/push-signature.js';
import { createCodeSyncStarter } from '../../domain/code-sync/start-code-sync.js';

interface Callbacks {
  receive: RequestHandler;
  /** The routes for the API reference. */
  routes: readonly Route[];
}

/**
 * Creates the nine receivers (specification, Inbound callback receivers). Mount them before anything that reads bodies.
 */
export function createCallbacks(deps: Deps, downstreamUrl: () => string): Callbacks {
  const { config, mongo } = deps;
  const receivers = receiversOf(deps, downstreamUrl);
  const deliveries = createDeliveries(mongo.collections);
  return {
    receive: createReceive({
      receivers,
      deliveries,
      bodyLimit: config.callbacks.bodyLimit,
      observe: deps.metrics.callback,
    }),
    routes: receiverRoutes(receivers),
  };
}

function receiversOf(
  { config, mongo, graph, temporal, kernel, auth, blobs, threads, log }: Deps,
  downstreamUrl: () => string,
): Receiver[] {
  const { codesyncSecret, catalogSecret, serverKey, timeoutMs } = config.callbacks;
  const { collections } = mongo;
  const read = createReadBody(threads, config.callbacks.bodyLimit);
  if (codesyncSecret === undefined) {
    log.warn(
      'CODESYNC_WEBHOOK_SECRET is not set: pushes are accepted without a signature until one is signed with the secret of its binding',
    );
  }
  return [
    githubPush({
      signature: createPushSignature({ secret: codesyncSecret, box: auth.box, collections, read }),
      read,
      collections,
      startCodeSync: createCodeSyncStarter(temporal, blobs),
    }),
    catalogEvents({
      secret: catalogSecret,
      read,
      scope: createCatalogScope({ config, mongo }),
      notify: createCatalogNotifier({ temporal, config }),
    }),
    catalogIngest({ serverKey, read, mongo, graph, kernel }),
    ...forwardedReceivers({ forward: createForwarder({ downstreamUrl, timeoutMs }), collections, box: auth.box }),
  ];
}
