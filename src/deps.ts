import { collections } from './collections.js';
import type { Deps } from './domain/deps.js';
import path from 'node:path';
import { createAuth } from './auth/create-auth.js';
import type { Config } from './config.js';
import { createCustomers } from './domain/customers/create-customers.js';
import { createStateReader } from './domain/executions/shared-states.js';
import { createFiles } from './domain/files/create-files.js';
import { createViewRun } from './domain/executions/watch.js';
import { createProjectNews } from './domain/news/watch.js';
import { catalog } from './catalog.js';
import { createRowInserter } from './domain/tables/insert.js';
import { createHideSecrets, createRedact } from './graph/redaction/redact.js';
import { noteOperation } from './governance/change-notes.js';
import { createGovernance } from './governance/create-governance.js';
import { createKernel } from './governance/kernel/perform.js';
import { createNearestByText } from './graph/vectors/nearest.js';
import { createProjectModeReader } from './graph/project-mode.js';
import { createIdempotency } from './governance/idempotency.js';
import { createOpenStreams } from './http/open-streams.js';
import { createRequestLimit } from './governance/request-limit.js';
import { createLogger } from './log.js';
import { createOauth } from './auth/oauth/create-oauth.js';
import { createMetrics } from './observability/metrics.js';
import { traceCommands } from './observability/mongo-spans.js';
import { traceSessions } from './observability/neo4j-spans.js';
import { clientInterceptors } from './observability/temporal-spans.js';
import { createStageObserver } from './observability/stages.js';
import { createTracing, type Tracing } from './observability/tracing.js';
import { createModels } from './models/create-models.js';
import { createEmbedder } from './models/embedder.js';
import { createReranker } from './models/reranker.js';
import { createQuestionVector, reasonOf } from './models/question-vector.js';
import { createHttpClient } from './outbound/http-client.js';
import { createOwnServers } from './outbound/own-servers.js';
import { ownServersOf } from './own-servers-of.js';
import { createDataEventsReader } from './domain/settings/operations.js';
import { createDiskBlobStore, createObjectBlobStore } from './stores/blobs.js';
import { createEncryptedBlobStore } from './stores/encrypted-blobs.js';
import { createOrganizationReader } from './stores/workflow-records.js';
import { createMongo } from './stores/mongo.js';
import { createGraph } from './stores/neo4j.js';
import { createTemporal } from './temporal/client.js';
import { createFollowHistory } from './temporal/history-cursor.js';
import { createPayloadTrust } from './temporal/payload-trust.js';
import { createQueueFacts } from './temporal/queue-facts.js';
import { reference } from './surfaces/gateway/routes/tools.js';
import { createMcpChecks } from './threads/mcp-checks.js';
import { createSchemaChecks } from './threads/schema-checks.js';
import { createThreads } from './threads/threads.js';

/**
 * Creates every store and client. Each one connects on first use, so an unavailable server does not delay the start.
 */
export function createDeps(config: Config, name: 'api' | 'worker' | 'test'): Deps {
  const log = createLogger({ level: config.logLevel, name });
  const stopping = new AbortController();
  const metrics = createMetrics();
  const tracing = createTracing(config.tracing, name, log);
  const { mongo, graph } = createStores(config, tracing);
  const [threads, untrustedThreads] = [createThreads(), createThreads()];
  const redact = createRedact((answer, owner) => threads.run('redactAnswer', answer, { owner }));
  const hideSecrets = createHideSecrets((answer, owner) => threads.run('hideSecrets', answer, { owner }));
  const ownServers = createOwnServers(ownServersOf(config));
  const { allowPrivateTargets, baseUrl: ownOrigin } = config;
  const http = createHttpClient({ allowPrivateTargets, ownOrigin, ownServers });
  const auth = createAuth({ config, mongo, log });
  const idempotency = createIdempotency(mongo.collections, auth.box);
  const customers = createCustomers(mongo.collections);
  const files = createFiles({ config, collections: mongo.collections, customers, box: auth.box, idempotency });
  const storedBytes = config.s3
    ? createObjectBlobStore(files.store, 'blobs')
    : createDiskBlobStore(path.join(config.dataDir, 'blobs'));
  const blobs = createEncryptedBlobStore(storedBytes, auth.box);
  const temporal = createTemporal(config.temporal, {
    blobs: storedBytes,
    cipher: auth.box,
    readOrganization: createOrganizationReader(mongo.collections),
    trust: createPayloadTrust({ mongo, keyIds: auth.box.keyIds }),
    interceptors: clientInterceptors(tracing),
  });
  const governance = createGovernance({ config, log, mongo, temporal, auth, catalog, threads, redact, hideSecrets });
  const kernel = createKernel({
    ...governance,
    requestLimit: createRequestLimit(mongo.collections, config.requestLimit),
    countAdmission: (result, scope) => metrics.admission(result, scope),
    projectMode: createProjectModeReader(mongo.collections),
    dataEvents: createDataEventsReader(mongo.collections),
    changed: (projectId, name) => noteOperation(mongo.collections, projectId, name),
    observeStage: createStageObserver({ metrics, tracing }),
  });
  return {
    config,
    log,
    metrics,
    tracing,
    mongo,
    graph,
    threads,
    untrustedThreads,
    mcpChecks: createMcpChecks(untrustedThreads),
    schemas: createSchemaChecks(untrustedThreads),
    redact,
    temporal,
    ...createSharedReaders({ config, mongo, temporal, metrics, log, governance }, stopping.signal),
    blobs,
    http,
    ownServers,
    ...createModelClients(config, graph),
    idempotency,
    auth,
    customers,
    files,
    insertRows: createRowInserter({ mongo, customers }),
    governance,
    kernel,
    reference,
    oauth: createOauth({ mongo, auth, log }),
    stopping,
    async close() {
      await governance.close();
      await Promise.allSettled([
        mongo.close(),
        graph.close(),
        temporal.close(),
        http.close(),
        files.store.close(),
        threads.close(),
        untrustedThreads.close(),
      ]);
      await tracing.close().catch((error: unknown) => log.warn({ err: error }, 'the last spans were not exported'));
    },
  };
}

function createModelClients(config: Config, graph: Deps['graph']) {
  const embedder = createEmbedder(config.embedding);
  return {
    models: createModels(config.llm),
    embedder,
    reranker: createReranker(config.rerank),
    nearestByText: createNearestByText({
      graph,
      isConfigured: embedder.model !== undefined,
      embed: createQuestionVector(embedder),
      reasonOf,
    }),
  };
}

/** Creates the readers that all viewers of this process share. */
function createSharedReaders(
  {
    config,
    mongo,
    temporal,
    metrics,
    log,
    governance,
  }: Pick<Deps, 'config' | 'mongo' | 'temporal' | 'metrics' | 'log' | 'governance'>,
  stopping: AbortSignal,
): Pick<Deps, 'queueFacts' | 'readRunState' | 'viewRun' | 'projectNews' | 'streams'> {
  const followHistory = createFollowHistory(temporal);
  return {
    queueFacts: createQueueFacts(temporal),
    readRunState: createStateReader(temporal),
    viewRun: createViewRun({ mongo, temporal, metrics, log, governance, followHistory, stopping }),
    projectNews: createProjectNews({ collections: mongo.collections, log, stopping }),
    streams: createOpenStreams(config.streamsMax),
  };
}

function createStores(config: Config, tracing: Tracing): Pick<Deps, 'mongo' | 'graph'> {
  const traced = tracing.exporting !== undefined;
  const mongo = createMongo({ ...config.mongodb, collections, monitorCommands: traced });
  const graph = createGraph({ ...config.neo4j, embeds: config.embedding !== undefined });
  if (traced) {
    traceCommands(mongo.db.client, tracing);
    traceSessions(graph.driver, tracing);
    traceSessions(graph.exact, tracing);
    traceSessions(graph.writer, tracing);
  }
  return { mongo, graph };
}
