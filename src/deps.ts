import path from 'node:path';
import { createAuth, type Auth } from './auth/create-auth.js';
import type { Config } from './config.js';
import { createCustomers } from './customers/create-customers.js';
import type { Customers } from './customers/customers.js';
import { createFiles, type Files } from './files/create-files.js';
import { createGovernance, type Governance } from './governance/create-governance.js';
import { createIdempotency, type Idempotency } from './http/idempotency.js';
import { createLogger, type Logger } from './log.js';
import { createOauth, type Oauth } from './oauth/create-oauth.js';
import { createMetrics, type Metrics } from './observability/metrics.js';
import { traceCommands } from './observability/mongo-spans.js';
import { traceSessions } from './observability/neo4j-spans.js';
import { clientInterceptors } from './observability/temporal-spans.js';
import { createTracing, type Tracing } from './observability/tracing.js';
import { createModels } from './models/create-models.js';
import type { ChatModel } from './models/port.js';
import { createHttpClient, type HttpClient } from './outbound/http-client.js';
import { createDiskBlobStore, createObjectBlobStore, type BlobStore } from './stores/blobs.js';
import { createMongo, type Mongo } from './stores/mongo.js';
import { createGraph, type Graph } from './stores/neo4j.js';
import { createTemporal, type Temporal } from './temporal/client.js';

/** Everything that surfaces and activities are made of. */
export interface Deps {
  config: Config;
  log: Logger;
  metrics: Metrics;
  tracing: Tracing;
  mongo: Mongo;
  graph: Graph;
  temporal: Temporal;
  blobs: BlobStore;
  http: HttpClient;
  models: ChatModel;
  idempotency: Idempotency;
  auth: Auth;
  customers: Customers;
  files: Files;
  governance: Governance;
  oauth: Oauth;
  /** Aborted when the process begins to stop, so that streams and waits end by themselves. */
  stopping: AbortController;
  close(): Promise<void>;
}

/** Builds every store and client; each connects lazily, so a server that is down delays nothing here. */
export function createDeps(config: Config, name: 'api' | 'worker' | 'test'): Deps {
  const log = createLogger({ level: config.logLevel, name });
  const metrics = createMetrics();
  const tracing = createTracing(config.tracing, name, log);
  const { mongo, graph } = createStores(config, tracing);
  const http = createHttpClient({ allowPrivateTargets: config.allowPrivateTargets, ownOrigin: config.baseUrl });
  const auth = createAuth({ config, mongo, log });
  const idempotency = createIdempotency(mongo.collections);
  const customers = createCustomers(mongo.collections);
  const files = createFiles({ config, collections: mongo.collections, customers, box: auth.box, idempotency });
  const blobs = config.s3 ? createObjectBlobStore(files.store, 'blobs') : createDiskBlobStore(path.join(config.dataDir, 'blobs'));
  const temporal = createTemporal(config.temporal, blobs, clientInterceptors(tracing));
  const governance = createGovernance({ config, log, mongo, temporal, auth });
  return {
    config,
    log,
    metrics,
    tracing,
    mongo,
    graph,
    temporal,
    blobs,
    http,
    models: createModels(config.llm),
    idempotency,
    auth,
    customers,
    files,
    governance,
    oauth: createOauth({ mongo, auth, log }),
    stopping: new AbortController(),
    async close() {
      await governance.audit.close();
      await Promise.allSettled([mongo.close(), graph.close(), temporal.close(), http.close(), files.store.close()]);
      await tracing.close().catch((error: unknown) => log.warn({ err: error }, 'the last spans were not exported'));
    },
  };
}

function createStores(config: Config, tracing: Tracing): Pick<Deps, 'mongo' | 'graph'> {
  const traced = tracing.exporting !== undefined;
  const mongo = createMongo({ ...config.mongodb, monitorCommands: traced });
  const graph = createGraph(config.neo4j);
  if (traced) {
    traceCommands(mongo.db.client, tracing);
    traceSessions(graph.driver, tracing);
  }
  return { mongo, graph };
}
