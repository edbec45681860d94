import type { Requirement } from './requirement.js';

/** The local servers, the environment, the first start and the sample run. */
export const stack = [
  {
    id: 'stack.data-format',
    source: 'docs/guides/local-stack.md',
    says: 'A data folder that another release wrote in another format is refused with what to do, and is not changed.',
  },
  {
    id: 'stack.pinned',
    source: 'docs/guides/local-stack.md',
    says: 'Container images are pinned by digest, and a downloaded archive of Temporal or Neo4j without its digest is refused.',
  },
  {
    id: 'stack.environment-address-wins',
    source: 'docs/guides/local-stack.md',
    says: 'A server whose address is in the environment is used, and no local copy of it is started.',
  },
  {
    id: 'stack.lookup-order',
    source: 'docs/guides/local-stack.md',
    says: 'Without an address, the order is: a binary on PATH, the cached one, the download, the registry build.',
  },
  {
    id: 'stack.vendor-unreachable-builds',
    source: 'docs/guides/local-stack.md',
    says: 'If a vendor host does not connect within about three seconds, the registry build is used and the choice is printed.',
  },
  {
    id: 'stack.build-cached',
    source: 'docs/guides/local-stack.md',
    says: "A second start takes its binaries from the user's cache folder and downloads nothing.",
  },
  {
    id: 'stack.free-ports',
    source: 'docs/guides/local-stack.md',
    says: 'Two stacks with different data folders run at the same time, each on free ports.',
  },
  {
    id: 'stack.waits-until-answering',
    source: 'docs/guides/local-stack.md',
    says: 'Starting the stack returns only after Temporal, MongoDB and Neo4j each answer a call of their protocol.',
  },
  {
    id: 'stack.temporal-prepared',
    source: 'docs/guides/local-stack.md',
    says: 'A started stack has registered its namespace and the six search attributes.',
  },
  {
    id: 'stack.data-survives',
    source: 'docs/guides/local-stack.md',
    says: 'Data in Temporal, MongoDB and Neo4j is available after the stack is stopped and restarted on the same data folder.',
  },
  {
    id: 'stack.stops-on-signal',
    source: 'docs/guides/local-stack.md',
    says: 'Ctrl-C and SIGTERM end every process that the stack started.',
  },
  {
    id: 'stack.missing-prerequisite',
    source: 'docs/guides/local-stack.md',
    says: 'Missing Go, missing Java and a missing network each end the start with one sentence that says what to install.',
  },
  {
    id: 'stack.compose.services',
    source: 'docs/guides/local-stack.md',
    says: 'The compose file has Temporal on PostgreSQL, its UI, MongoDB 7 or later, Neo4j 5.26, the API and the worker, with health checks.',
  },
  {
    id: 'stack.compose.image-unprivileged',
    source: 'docs/guides/local-stack.md',
    says: 'The Dockerfile has several stages, and the last one runs as a non-root user.',
  },
  {
    id: 'stack.compose.valid',
    source: 'docs/guides/local-stack.md',
    says: 'The compose file conforms to the Compose specification, and its images, ports and variables match the code.',
  },

  {
    id: 'env.port',
    source: 'docs/specification.md#environment',
    says: 'PORT sets the port of the API, 8080 by default.',
  },
  {
    id: 'env.base-url',
    source: 'docs/specification.md#environment',
    says: 'BASE_URL is the public address in answers, localhost with the port by default.',
  },
  {
    id: 'env.downstream-port',
    source: 'docs/specification.md#environment',
    says: 'DOWNSTREAM_PORT sets the port of the internal listener, 8081 by default.',
  },
  {
    id: 'env.surfaces',
    source: 'docs/specification.md#environment',
    says: 'SURFACES limits a process to the named surfaces, and the paths of other surfaces are unknown to it.',
  },
  {
    id: 'env.servers',
    source: 'docs/specification.md#environment',
    says: 'TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, MONGODB_URI and the NEO4J variables decide which servers API and worker connect to.',
  },
  {
    id: 'env.temporal-tls',
    source: 'docs/specification.md#environment',
    says: 'TLS, client certificates and an API key for Temporal come from the variables that Temporal itself defines.',
  },
  {
    id: 'env.data-dir',
    source: 'docs/specification.md#environment',
    says: 'DATA_DIR contains everything that the local stack and the service store on disk, .data by default.',
  },
  {
    id: 'env.invalid-refused',
    source: 'docs/guides/local-stack.md',
    says: 'An invalid value of a variable stops the start with a message that names the variable.',
  },
  {
    id: 'env.callback-secrets',
    source: 'docs/specification.md#environment',
    says: 'CODESYNC_WEBHOOK_SECRET, CATALOG_WEBHOOK_SECRET and CATALOG_SERVER_KEY are the secrets of the three verified receivers.',
  },
  {
    id: 'env.catalog-source',
    source: 'docs/specification.md#environment',
    says: 'CATALOG_URL and CATALOG_TOKEN set the catalog that a sync reads and its credential.',
  },
  {
    id: 'env.catalog-quiet-window',
    source: 'docs/specification.md#environment',
    says: 'CATALOG_QUIET_WINDOW_MS sets the quiet window of the catalog sync, 5000 by default.',
  },
  {
    id: 'env.callback-downstream-url',
    source: 'docs/specification.md#environment',
    says: 'CALLBACK_DOWNSTREAM_URL replaces the built-in downstream listener as the target of forwarded callbacks.',
  },
  {
    id: 'env.callback-body-limit',
    source: 'docs/specification.md#environment',
    says: 'CALLBACK_BODY_LIMIT limits the body of a callback, 25 MiB by default.',
  },
  {
    id: 'env.quota',
    source: 'docs/specification.md#environment',
    says: 'QUOTA_PROJECT_MAX, QUOTA_ORG_MAX and QUOTA_WINDOW_SECONDS set the request windows; 0 means unlimited.',
  },
  {
    id: 'env.llm',
    source: 'docs/specification.md#environment',
    says: 'LLM_BASE_URL, LLM_API_KEY and LLM_MODEL set the endpoint of model turns, its key and the default model.',
  },
  {
    id: 'env.allow-private-targets',
    source: 'docs/specification.md#environment',
    says: 'An action refuses loopback and private addresses unless ALLOW_PRIVATE_TARGETS is set.',
  },
  {
    id: 'env.secrets-key',
    source: 'docs/specification.md#environment',
    says: 'SECRETS_KEY encrypts connector secrets, so a process with another key cannot read them.',
  },
  {
    id: 'env.user-token-issuer',
    source: 'docs/specification.md#environment',
    says: 'USER_TOKEN_JWKS_URL and USER_TOKEN_ISSUER allow user tokens of that external issuer.',
  },
  {
    id: 'env.s3',
    source: 'docs/specification.md#environment',
    says: 'If the standard S3 variables are set, files are stored in that bucket instead of the data folder.',
  },
  {
    id: 'env.opentelemetry',
    source: 'docs/specification.md#environment',
    says: 'The standard OpenTelemetry variables turn on trace export and set its target.',
  },

  {
    id: 'first-start.seeds',
    source: 'docs/specification.md#environment',
    says: 'The first start on an empty data folder creates one organization, one department, one project and one OWNER.',
  },
  {
    id: 'first-start.prints-sign-in',
    source: 'docs/specification.md#environment',
    says: 'The first start prints the mail address and password of the owner.',
  },
  {
    id: 'first-start.workspace-file',
    source: 'docs/specification.md#environment',
    says: 'The first start writes workspace.json to the data folder with every field of the contract, readable only by its owner.',
  },
  {
    id: 'first-start.api-key-works',
    source: 'docs/specification.md#environment',
    says: 'The key in workspace.json is accepted by the platform API for the seeded project.',
  },
  {
    id: 'first-start.later-starts-keep',
    source: 'docs/specification.md#environment',
    says: 'A later start seeds nothing, keeps ids and secrets in workspace.json and updates its addresses.',
  },
  {
    id: 'first-start.production',
    source: 'docs/specification.md#environment',
    says: 'With NODE_ENV=production nothing is seeded unless SEED is true.',
  },
  {
    id: 'first-start.production-generated-secrets',
    source: 'docs/specification.md#environment',
    says: 'With NODE_ENV=production a process refuses to start if its secrets would be generated.',
  },

  {
    id: 'sample.runs-to-completion',
    source: 'docs/guides/local-stack.md',
    says: 'The sample agentflow runs its two agents on Temporal and is completed with a Markdown conclusion.',
  },
  {
    id: 'sample.reads-document',
    source: 'docs/guides/local-stack.md',
    says: 'The conclusion of the sample has facts that appear only in the document shipped with it.',
  },
  {
    id: 'sample.calls-http',
    source: 'docs/guides/local-stack.md',
    says: 'An action of the sample fetches the connection info of the running product, and the response is in the outputs.',
  },
  {
    id: 'sample.terminal',
    source: 'docs/guides/local-stack.md',
    says: 'npm start shows the progress and result of the sample, links to its run in the Temporal UI and to the API, and the next commands.',
  },
  {
    id: 'templates.published',
    source: 'docs/guides/flows.md',
    says: 'npm start publishes each template once in the marketplace, and completes an interrupted publication.',
  },
  {
    id: 'templates.examples',
    source: 'docs/guides/flows.md#templates',
    says: 'Each input of a template has a title, a description and an example, which the form of a test run shows.',
  },
  {
    id: 'templates.found',
    source: 'docs/guides/flows.md#templates',
    says: 'The console lists the templates by name and first sentence, and finds them by words of their names and descriptions.',
  },
  {
    id: 'templates.run',
    source: 'docs/guides/flows.md',
    says: 'Each template can be added to a project and runs with the offline model, given what its description asks for.',
  },
  {
    id: 'sample.skipped-on-request',
    source: 'docs/specification.md#environment',
    says: 'npm start with --no-sample starts the product without the sample.',
  },
  {
    id: 'stack.stand-in-reads',
    source: 'docs/guides/local-stack.md',
    says: 'A filter and an order have the same result with indexes and without, on the stand-in for MongoDB too.',
  },
] as const satisfies readonly Requirement[];
