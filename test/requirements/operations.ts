import type { Requirement } from './requirement.js';

/** Requirements of operators, API readers and maintainers. */
export const operations = [
  {
    id: 'service.request-id',
    source: 'docs/specification.md#conventions',
    says: 'Every answer, including refusals, has an X-Request-Id that also appears in the log lines of that request.',
  },
  {
    id: 'service.logs-redacted',
    source: 'docs/guides/operations.md',
    says: 'Logs are JSON lines without readable keys, passwords, tokens or cookies.',
  },
  {
    id: 'service.errors-generic',
    source: 'docs/guides/operations.md',
    says: 'An unexpected fault is answered 500 with a text that does not reveal the cause, and the log has the cause.',
  },
  {
    id: 'service.shutdown.api-drains',
    source: 'docs/guides/operations.md',
    says: 'On SIGTERM the API accepts no new connections, answers the requests in progress and exits with 0.',
  },
  {
    id: 'service.shutdown.worker',
    source: 'docs/guides/operations.md',
    says: 'On SIGTERM the worker finishes or returns its activities, and the runs continue on another worker.',
  },
  {
    id: 'service.healthz',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /healthz answers 200 without a credential while the process lives, regardless of its dependencies.',
  },
  {
    id: 'service.readyz',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /readyz lists each dependency with its state, and answers 503 while one of them does not respond.',
  },
  {
    id: 'service.openapi',
    source: 'docs/specification.md#conventions',
    says: 'GET /openapi.json is a valid OpenAPI 3.1 document whose operations are exactly the served routes.',
  },
  {
    id: 'service.docs',
    source: 'docs/guides/operations.md',
    says: 'GET /docs shows the API reference as a page that loads nothing from any other host.',
  },
  {
    id: 'service.surfaces-share-port',
    source: 'docs/architecture.md',
    says: 'By default, gateway, platform and callbacks share one port, and only the internal listener has its own.',
  },

  {
    id: 'project.imports-one-way',
    source: 'docs/architecture.md',
    says: 'Lint refuses an import against the direction of the layers, such as a workflow that imports from src.',
  },
  {
    id: 'project.workflow-bundle',
    source: 'docs/architecture.md',
    says: 'The workflow bundle contains no Node built-ins and only modules of the workflow folder and its allowed packages.',
  },
  {
    id: 'project.requirements.uncovered-fails',
    source: 'docs/guides/operations.md',
    says: 'The gate fails on an id of a finished part that no running test verifies.',
  },
  {
    id: 'project.requirements.reduced-shown',
    source: 'docs/guides/operations.md',
    says: 'The report names each id that a run verifies in a reduced form, with the command that runs the full form.',
  },

  {
    id: 'reference.same-schemas',
    source: 'docs/specification.md#conventions',
    says: 'The request schema in the document accepts and refuses the same bodies as the route.',
  },
  {
    id: 'reference.examples',
    source: 'docs/guides/operations.md',
    says: 'The OpenAPI document has examples and every possible error for each operation.',
  },
  {
    id: 'reference.linted',
    source: 'docs/guides/operations.md',
    says: 'A public OpenAPI linter finds no error in the served document.',
  },
  {
    id: 'reference.fuzzed',
    source: 'docs/guides/operations.md',
    says: 'A property-based fuzzer over all surfaces finds no 5xx and no undocumented answer.',
    fullForm: 'FUZZ_EXAMPLES',
  },

  {
    id: 'metrics.prometheus',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /metrics answers in the Prometheus text format.',
  },
  {
    id: 'metrics.named',
    source: 'docs/guides/operations.md',
    says: 'Metrics cover requests, stages, refusals, quota, executions by state, schedule delay, sync lag and the Temporal SDK.',
  },
  {
    id: 'tracing.one-trace',
    source: 'docs/guides/operations.md',
    says: 'One trace id joins the HTTP request, workflow, activities, database calls, lifecycle and log lines of a call.',
  },
  {
    id: 'dashboard.grafana',
    source: 'docs/guides/operations.md',
    says: 'An optional compose profile brings a Grafana dashboard whose queries name metrics that exist.',
  },

  {
    id: 'scale.several-processes',
    source: 'docs/guides/operations.md',
    says: 'Several API processes and several workers, all equal, share the load.',
  },
  {
    id: 'scale.temporal-secured',
    source: 'docs/guides/operations.md',
    says: 'API and worker connect to a Temporal that requires TLS, a client certificate or an API key.',
  },
  {
    id: 'scale.database-clusters',
    source: 'docs/guides/operations.md',
    says: 'MongoDB replica set and Neo4j cluster addresses are accepted unchanged.',
  },
  {
    id: 'scale.worker-versioning',
    source: 'docs/guides/operations.md',
    says: 'Worker concurrency and the deployment version of a worker come from the configuration.',
  },
  {
    id: 'scale.kubernetes',
    source: 'docs/guides/operations.md',
    says: 'The Kubernetes manifests validate and name the probes, ports and variables of the code.',
  },

  {
    id: 'console.executions',
    source: 'docs/guides/operations.md',
    says: 'The console lists executions with live state and a timeline of steps, and pauses, resumes and cancels them.',
  },
  {
    id: 'console.approvals',
    source: 'docs/guides/operations.md',
    says: 'The console shows exactly what an approval would allow and records the decision.',
  },
  {
    id: 'console.governance',
    source: 'docs/guides/operations.md',
    says: 'The console shows a lifecycle as its stages, the quota as gauges and the result of the audit chain verification.',
  },
  {
    id: 'console.schedules',
    source: 'docs/guides/operations.md',
    says: 'The console lists schedules with their next runs and links every run to the Temporal UI.',
  },
  {
    id: 'console.sign-in',
    source: 'docs/guides/operations.md',
    says: 'The console requires sign-in and offers each role only its allowed functions.',
  },
  {
    id: 'console.accessible',
    source: 'docs/guides/operations.md',
    says: 'Every function of the console works by keyboard and has names for screen readers.',
  },

  {
    id: 'sdk.environment',
    source: 'docs/specification.md#environment',
    says: 'Both clients read SERVICE_WORKSPACE and SERVICE_API_KEY and take the API base from connection info.',
  },
  {
    id: 'sdk.node',
    source: 'docs/guides/operations.md',
    says: 'The Node client calls gateway and platform on a real server, with types for requests and answers.',
  },
  {
    id: 'sdk.python',
    source: 'docs/guides/operations.md',
    says: 'The Python client calls gateway and platform on a real server, with types for requests and answers.',
  },
  {
    id: 'sdk.named-by-connection-info',
    source: 'docs/guides/operations.md',
    says: 'The package names and install commands in connection info are those of the two clients.',
  },
  {
    id: 'sdk.retry.which',
    source: 'docs/specification.md#errors',
    says: 'A client repeats a call unchanged after 429 and after a 5xx without a label, and returns every other refusal to its caller.',
  },
  {
    id: 'sdk.retry.after',
    source: 'docs/specification.md#errors',
    says: 'After 429 a client waits at least Retry-After plus a small random time.',
  },
  {
    id: 'sdk.retry.full-jitter',
    source: 'docs/specification.md#errors',
    says: 'Without Retry-After, a client draws its wait uniformly from 0 to 2^attempt seconds, capped at 60.',
  },
  {
    id: 'sdk.retry.never',
    source: 'docs/specification.md#errors',
    says: 'A client never repeats a call that was answered unconfigured or unavailable.',
  },

  {
    id: 'versioning.gateway-prefix',
    source: 'docs/specification.md#conventions',
    says: 'Gateway tools and governance routes are under /v1, and connection info reports their base address.',
  },
  {
    id: 'versioning.platform-paths',
    source: 'docs/specification.md#conventions',
    says: 'Platform routes have unversioned paths; only the project routes are under /v1/project.',
  },

  {
    id: 'whole.soak',
    source: 'docs/guides/operations.md',
    says: 'Half an hour of mixed load with a process killed every two minutes loses nothing acknowledged and returns no 5xx outside the contract.',
    fullForm: 'SOAK_MINUTES',
  },
  {
    id: 'whole.memory-flat',
    source: 'docs/guides/operations.md',
    says: 'The memory of API and worker does not grow over the soak.',
    fullForm: 'SOAK_MINUTES',
  },
  {
    id: 'whole.fresh-clone',
    source: 'docs/guides/operations.md',
    says: 'Both commands of the README succeed in a fresh clone on a machine that has only the prerequisites.',
  },
  {
    id: 'operations.event-loop',
    source: 'docs/guides/operations.md',
    says: 'No request blocks the event loop for longer than 100 ms, whatever its body, query, path and headers contain.',
    fullForm: 'EVENT_LOOP_PERCENT',
  },
  {
    id: 'operations.event-loop.forms',
    source: 'https://owasp.org/API-Security/editions/2023/en/0xa4-unrestricted-resource-consumption/',
    says: 'Multipart bodies, forms and queries of every kind block the event loop for at most 100 ms.',
  },
  {
    id: 'operations.fuzzed-values',
    source: 'docs/guides/operations.md',
    says: 'Hostile values in every field and identifier lead to no undocumented 5xx and to no data of another tenant.',
    fullForm: 'FUZZ_EXAMPLES',
  },

  {
    id: 'sdk.generated',
    source: 'docs/guides/operations.md',
    says: 'The types and operations of both clients are generated from the API reference for all groups, and both clients cover every operation.',
  },
  {
    id: 'sdk.documented',
    source: 'docs/guides/clients.md',
    says: 'Each method of the Node client has documentation, also of its parameters, and an answer type with a name.',
  },
  {
    id: 'sdk.node.formats',
    source: 'docs/guides/clients.md',
    says: 'The Node client is an ES module and a CommonJS module, both with types, and runs in browsers.',
  },
  {
    id: 'sdk.python.async',
    source: 'docs/guides/clients.md',
    says: 'The asynchronous Python client makes the same calls as the synchronous one, and a cancelled task ends its call.',
  },
  {
    id: 'sdk.typed-events',
    source: 'docs/guides/clients.md',
    says: 'The type of an event of an execution tells the type of its data.',
  },
  {
    id: 'sdk.flows',
    source: 'docs/guides/clients.md#agentflows-in-code',
    says: 'Agentflows in code make the documents of the API, the same in both languages.',
  },
  {
    id: 'sdk.flows.types',
    source: 'docs/guides/clients.md#agentflows-in-code',
    says: 'The compiler of TypeScript and the type checker of Python find wrong references to inputs and outputs; that of TypeScript also finds unknown ids.',
  },
  {
    id: 'reference.names',
    source: 'docs/guides/api-reference.md',
    says: 'Every object, enumeration and union of the API reference is a component with a name that is unique in any case.',
  },
  {
    id: 'reference.generated-names',
    source: 'docs/guides/api-reference.md',
    says: 'No generator of clients maps two names of the API reference to one identifier, or a number to a type that is too small.',
  },
  {
    id: 'reference.generators',
    source: 'docs/guides/clients.md',
    says: 'The clients that eight public generators make from the API reference compile, and a call of each works.',
    fullForm: 'GENERATORS',
  },
  {
    id: 'auth.other-header',
    source: 'docs/guides/gateway.md',
    says: 'A program that sends its key in the header of the other interface is told the right one.',
  },
  {
    id: 'sdk.served',
    source: 'docs/guides/operations.md',
    says: 'The service serves `gcs` and the packages of both clients, and connection info names the addresses of the clients or the commands that the operator configured.',
  },
  {
    id: 'guides.harmless',
    source: 'docs/guides/gateway.md',
    says: 'The commands of the guides, the samples and the console replace and delete only what they made.',
  },
  {
    id: 'guides.run-as-pasted',
    source: 'docs/guides/operations.md',
    says: 'Every runnable sh block of the README and the guides succeeds on the stack when pasted unchanged.',
  },
  {
    id: 'guides.examples-type-check',
    source: 'docs/guides/operations.md',
    says: 'The TypeScript and JavaScript examples of the README, the guides and the client package pass the type checker.',
  },
  {
    id: 'conventions.unknown-query',
    source: 'docs/specification.md#conventions',
    says: 'An unknown query parameter is answered 400 with the unknown and the known names.',
  },
  {
    id: 'start.restarts',
    source: 'docs/guides/operations.md',
    says: 'npm start restarts a server, API or worker that died, and reports it.',
  },
  {
    id: 'start.node-versions',
    source: 'docs/guides/operations.md',
    says: 'API and worker run the sample on Node 22 and 24 too.',
  },
  {
    id: 'start.leaves-dist',
    source: 'docs/guides/operations.md',
    says: 'A second start does not rebuild existing output.',
  },
  {
    id: 'encryption.histories',
    source: 'docs/guides/operations.md',
    says: "A dump of Temporal's store and of the blob store contains no business data.",
    fullForm: 'ENCRYPTION_RUNS',
  },
  {
    id: 'encryption.rotation',
    source: 'docs/guides/operations.md',
    says: 'After a rotation of SECRETS_KEY, and after the first start with encryption, older histories stay readable.',
  },
  {
    id: 'trust.inputs',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'A workflow whose input the product did not send to it fails with `untrusted_input`, without an effect.',
  },
  {
    id: 'trust.messages',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'A signal or update that the product did not send to this run has no effect, and the run goes on.',
  },
  {
    id: 'trust.copied-inputs',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'The input of a run, copied or changed by somebody with access to Temporal, starts nothing and sends no request.',
  },
  {
    id: 'trust.activities',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'An activity runs only with an input of its workflow, and a workflow accepts only the results of its activities.',
  },
  {
    id: 'trust.keys',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'A worker distinguishes the keys that an installation has ever had from those of others.',
  },
  {
    id: 'trust.schedules',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'A run of a schedule whose input somebody has replaced in Temporal is refused, and the schedule gets its input back with its next change.',
  },
  { id: 'trust.reset', source: 'docs/guides/operations.md', says: 'A run that an operator resets continues.' },
  {
    id: 'trust.operator-signals',
    source: 'docs/guides/operations.md',
    says: 'Operators pause, resume and cancel runs with the Temporal UI or CLI, and cannot do so in the name of a person.',
  },
  {
    id: 'trust.codec-endpoint',
    source: 'docs/decisions/0009-encrypted-and-sealed-messages.md',
    says: 'Workflows do not obey payloads that the codec endpoint encodes.',
  },
  {
    id: 'encryption.key-per-organization',
    source: 'docs/guides/operations.md',
    says: 'Each organization has its own key; a payload cannot be decrypted with the key of another.',
  },
  {
    id: 'encryption.codec-endpoint',
    source: 'docs/guides/operations.md',
    says: 'The Temporal UI and CLI decode payloads through an endpoint that requires sign-in and the role OWNER or ORG_ADMIN.',
  },
  {
    id: 'outbound.own-servers',
    source: 'https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html',
    says: 'No request that a user causes reaches a server of the product, whatever ALLOW_PRIVATE_TARGETS says.',
  },
  {
    id: 'stack.own-passwords',
    source: 'docs/guides/local-stack.md',
    says: 'The local servers need a password that only this user can read, and the data folder is closed to others.',
  },
] as const satisfies readonly Requirement[];
