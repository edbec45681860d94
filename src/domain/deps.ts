import type { Auth } from '../auth/create-auth.js';
import type { Config } from '../config.js';
import type { Customers } from './customers/record.js';
import type { Files } from './files/create-files.js';
import type { ReadState } from './executions/shared-states.js';
import type { ViewRun } from './executions/watch.js';
import type { ProjectNews } from './news/watch.js';
import type { createRowInserter } from './tables/insert.js';
import type { Redact } from '../graph/redaction/redact.js';
import type { NearestByText } from '../graph/vectors/nearest.js';
import type { Governance } from '../governance/create-governance.js';
import type { Kernel } from '../governance/kernel/perform.js';
import type { Idempotency } from '../governance/idempotency.js';
import type { OpenStreams } from '../http/open-streams.js';
import type { Logger } from '../log.js';
import type { Oauth } from '../auth/oauth/create-oauth.js';
import type { Metrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import type { Embedder } from '../models/embedder.js';
import type { Reranker } from '../models/reranker.js';
import type { ChatModel } from '../models/port.js';
import type { HttpClient } from '../outbound/http-client.js';
import type { OwnServers } from '../outbound/own-servers.js';
import type { McpChecks } from '../threads/mcp-checks.js';
import type { SchemaChecks } from '../threads/schema-checks.js';
import type { EncryptedBlobStore } from '../stores/encrypted-blobs.js';
import type { Mongo } from '../stores/mongo.js';
import type { Graph } from '../stores/neo4j.js';
import type { Temporal } from '../temporal/client.js';
import type { QueueFacts } from '../temporal/queue-facts.js';
import type { Threads } from '../threads/threads.js';
import type { Tool } from '../governance/tools/tool.js';

/** The dependencies of surfaces and activities. */
export interface Deps {
  config: Config;
  log: Logger;
  metrics: Metrics;
  tracing: Tracing;
  mongo: Mongo;
  graph: Graph;
  threads: Threads;
  /** Threads for work whose length others decide, such as the code of flows. */
  untrustedThreads: Threads;
  /** Run in separate threads, because an MCP server decides how long a check takes. */
  mcpChecks: McpChecks;
  /** JSON Schemas that people write, and values that they describe. */
  schemas: SchemaChecks;
  redact: Redact;
  temporal: Temporal;
  /** The state of an open run, which all readers of this process share. */
  readRunState: ReadState;
  viewRun: ViewRun;
  /** What Temporal reports about the task queues, up to five seconds old. */
  queueFacts(): Promise<QueueFacts[]>;
  blobs: EncryptedBlobStore;
  http: HttpClient;
  ownServers: OwnServers;
  models: ChatModel;
  embedder: Embedder;
  nearestByText: NearestByText;
  /** Undefined without an endpoint. */
  reranker: Reranker | undefined;
  idempotency: Idempotency;
  /** Open event streams of the platform API. */
  streams: OpenStreams;
  projectNews: ProjectNews;
  auth: Auth;
  customers: Customers;
  files: Files;
  /** Groups inserts into the same table, for the whole process. */
  insertRows: ReturnType<typeof createRowInserter>;
  governance: Governance;
  kernel: Kernel;
  /** What the tool `docs` says about the tools: their routes, such as `POST /v1/docs`, and the errors of their calls. */
  reference: { tools: readonly { tool: Tool<Deps>; route: string }[]; errors: readonly object[] };
  oauth: Oauth;
  /** Aborted when the process starts to shut down, which ends streams and waits. */
  stopping: AbortController;
  close(): Promise<void>;
}
