import type { Requirement } from './requirement.js';

/** Routes of the context gateway, apart from credentials, OAuth and MCP. */
export const gateway = [
  {
    id: 'gateway.connection-info',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/connection-info answers without a credential and contains no secret.',
  },
  {
    id: 'resource.connection-info',
    source: 'docs/specification.md#context-gateway',
    says: 'Connection info has both MCP addresses, the API base, the name of the workspace header and both clients with their install commands.',
  },
  {
    id: 'gateway.tools.post-only',
    source: 'docs/specification.md#context-gateway',
    says: 'Any method other than POST on the path of a tool is answered 405 with Allow: POST.',
  },
  {
    id: 'gateway.tools.unknown',
    source: 'docs/specification.md#context-gateway',
    says: 'A path under /v1 that does not name a tool is answered 404 not_found.',
  },
  {
    id: 'gateway.workspace-header.decides',
    source: 'docs/specification.md#context-gateway',
    says: 'X-Service-Workspace with ws_ and a project selects that project, if the credential has access to it.',
  },
  {
    id: 'gateway.workspace-header.optional',
    source: 'docs/specification.md#conventions',
    says: 'Without the header, a credential of one project uses that project, and a user token its own project_id.',
  },
  {
    id: 'gateway.workspace-header.foreign',
    source: 'docs/specification.md#errors',
    says: 'A header that names a project outside the scope of the credential is answered 403 at S2:resolve-scope.',
  },
  {
    id: 'gateway.project-id.never-from-client',
    source: 'docs/specification.md#governed-calls',
    says: 'A project_id anywhere in the body or query parameters of a tool call is refused.',
  },

  {
    id: 'gateway.query',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/query-context returns ranked entities, relationships, facts and rows with limit, truncated and lifecycle_id.',
  },
  {
    id: 'gateway.query.entity',
    source: 'docs/specification.md#context-gateway',
    says: 'An entity has id, type, name, properties, score, project_id and provenance.',
  },
  {
    id: 'gateway.query.relationship',
    source: 'docs/specification.md#context-gateway',
    says: 'A relationship has id, type, from, to, properties and provenance.',
  },
  {
    id: 'gateway.query.fact',
    source: 'docs/specification.md#context-gateway',
    says: 'A fact has subject, predicate, object, confidence, its validity period and provenance.',
  },
  {
    id: 'gateway.query.params',
    source: 'docs/specification.md#context-gateway',
    says: 'params are bound as query parameters; project_id and project_ids are refused.',
  },
  {
    id: 'gateway.query.limit',
    source: 'docs/specification.md#context-gateway',
    says: 'limit defaults to 25 and is clamped to 200.',
  },
  {
    id: 'gateway.query.timeout',
    source: 'docs/specification.md#context-gateway',
    says: 'timeout_ms defaults to five seconds and is clamped to thirty.',
  },
  {
    id: 'gateway.query.slow',
    source: 'docs/guides/gateway.md',
    says: 'A query that exceeds its timeout is stopped in the database and answered 504.',
  },
  {
    id: 'gateway.query.work-bounded',
    source: 'docs/guides/gateway.md',
    says: 'The database is idle within a second after a query is answered; a query that cannot be stopped is refused with the reason and the limit.',
  },
  {
    id: 'gateway.query.work-of-this-graph',
    source: 'docs/guides/gateway.md',
    says: 'The work of a query is estimated from the real sizes of a graph of at most 10,000 nodes, and a refusal says what to use instead.',
  },
  {
    id: 'gateway.query.no-internal-names',
    source: 'docs/guides/gateway.md',
    says: 'labels() and keys() return no names of the service, and its own properties cannot be read.',
  },
  {
    id: 'gateway.query.error-texts',
    source: 'docs/guides/gateway.md',
    says: 'An error while a query runs names its kind and what it means, and no stored value.',
  },
  {
    id: 'gateway.query.honest-analytics',
    source: 'docs/guides/gateway.md',
    says: 'Aggregations over 100,000 nodes and paths of six hops are answered.',
  },
  {
    id: 'gateway.query.concurrency',
    source: 'docs/guides/gateway.md',
    says: 'A process runs a few queries of a project concurrently; further queries wait, and queries above the limit are answered 429 with Retry-After.',
  },
  {
    id: 'gateway.query.read-as-cypher',
    source: 'docs/guides/gateway.md',
    says: 'A question that begins with a Cypher keyword is refused with the keyword, the parse error, and how to ask in natural language.',
  },
  {
    id: 'gateway.query.present-facts',
    source: 'docs/guides/gateway.md',
    says: 'Superseded facts never hide a current one, however many there are, and truncated is true if anything was omitted.',
  },
  {
    id: 'gateway.query.ranking',
    source: 'docs/guides/gateway.md',
    says: 'The number of its facts alone does not rank an entity higher, and neighbours are chosen in a fixed order.',
  },
  {
    id: 'gateway.query.bookmark',
    source: 'docs/guides/gateway.md',
    says: 'A save returns a bookmark, and a query with it sees the save in every process.',
  },
  {
    id: 'graph.projects-apart',
    source: 'docs/guides/gateway.md',
    says: 'Waiting writes of one project do not take connections or time from another project.',
  },
  {
    id: 'graph.names-bounded',
    source: 'docs/guides/gateway.md',
    says: 'A project can add a limited number of types and property names to the graph; more are answered 422 with the limit.',
  },
  {
    id: 'graph.entity-bounded',
    source: 'docs/guides/gateway.md',
    says: 'The properties of an entity or relationship have a size limit across all saves; more is answered 422 with the limit.',
  },
  {
    id: 'gateway.ontology.commit-in-batches',
    source: 'docs/guides/gateway.md',
    says: 'A commit over more than 20,000 elements works in batches; an interrupted commit leaves the previous version in force.',
    fullForm: 'ONTOLOGY_ELEMENTS',
  },
  {
    id: 'gateway.query.as-of',
    source: 'docs/specification.md#context-gateway',
    says: 'as_of returns the facts that were valid at that time.',
  },
  {
    id: 'gateway.query.granted-projects',
    source: 'docs/specification.md#context-gateway',
    says: 'granted_projects lets a query filter on $project_ids, which contains only the projects granted to the caller.',
  },
  {
    id: 'gateway.query.natural-language',
    source: 'docs/specification.md#context-gateway',
    says: 'Text other than Cypher is searched by full text and graph neighbourhood, and the results are ranked.',
  },
  {
    id: 'gateway.query.read-clause',
    source: 'docs/specification.md#context-gateway',
    says: 'A query may begin with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN or CALL.',
  },
  {
    id: 'gateway.query.write-clause',
    source: 'docs/specification.md#context-gateway',
    says: 'A query that contains a write clause at any position is answered 422 at S4:validate-input.',
  },
  {
    id: 'gateway.query.project-filter',
    source: 'docs/specification.md#context-gateway',
    says: 'A query without a filter on $project_id or $project_ids is answered 422 at S4:validate-input.',
  },
  {
    id: 'gateway.query.procedures',
    source: 'docs/specification.md#governed-calls',
    says: 'Procedures and functions outside the allow-list and LOAD CSV are answered 422 at S4:validate-input.',
  },
  {
    id: 'gateway.query.never-leaves-project',
    source: 'docs/guides/gateway.md',
    says: 'No attack of the corpus and no fuzzed query returns a node, a value or a count of another project.',
    fullForm: 'GUARD_FUZZ_MS',
  },
  {
    id: 'gateway.query.honest-pass',
    source: 'docs/guides/gateway.md',
    says: 'Every legitimate query of the corpus passes the guard and returns what the database alone would return for that project.',
  },
  {
    id: 'gateway.query.read-only',
    source: 'docs/specification.md#governed-calls',
    says: 'A query runs in READ access mode, so the server refuses a write even if it passes the guard.',
  },
  {
    id: 'gateway.query.provenance',
    source: 'docs/specification.md#governed-calls',
    says: 'Each entity shows who saved it, from which source and when, and which calls read it and when.',
  },
  {
    id: 'gateway.query.redaction',
    source: 'docs/guides/gateway.md',
    says: 'Mail addresses, phone numbers, cards, IBANs, national ids, keys, tokens and personal properties are redacted in all fields, nested values and facts.',
  },

  {
    id: 'gateway.save-context',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/save-context stores entities, relationships and facts in the project and returns their counts and ids.',
  },
  {
    id: 'gateway.save-context.idempotent',
    source: 'docs/specification.md#context-gateway',
    says: 'Saving the same element again, by id or by type and name, changes the stored element and does not add one.',
  },
  {
    id: 'gateway.save-context.facts',
    source: 'docs/specification.md#context-gateway',
    says: 'A contradicted fact is closed and kept; its validity period is separate from the time when it was recorded.',
  },
  {
    id: 'gateway.save-context.ends',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'A fact that is saved with an end ends the known fact; nothing gets a period without length.',
  },
  {
    id: 'gateway.save-context.lists',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'Values that one call states for one time are all kept, unless the ontology declares one value; a later single value replaces the earlier one.',
  },
  {
    id: 'gateway.save-context.changes',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'A save reports what was created, changed, ended, closed and left unchanged.',
  },
  {
    id: 'gateway.save-context.names',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'Names are stored in NFC and found regardless of case, white space and Unicode form; a name of several entities is refused with their ids.',
  },
  {
    id: 'gateway.save-context.properties',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'A property that facts state has the value of the current fact.',
  },
  {
    id: 'gateway.query.object-names',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'An answer to a question names the entity that the object of a fact refers to.',
  },
  {
    id: 'gateway.save-context.simple-mode-only',
    source: 'docs/specification.md#context-gateway',
    says: 'In a governed project, save-context is answered 403 at S5:policy.',
  },
  {
    id: 'gateway.ontology.define',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/ontology with define stores a draft of entity and relationship types that is not in force yet.',
  },
  {
    id: 'gateway.ontology.commit',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/ontology with commit checks the draft against stored data and puts it into force as a new version.',
  },
  {
    id: 'gateway.ontology.types',
    source: 'docs/specification.md#context-gateway',
    says: 'A type defines its properties, their types, which are required and which are personal data, and writes must comply.',
  },
  {
    id: 'gateway.docs.governance',
    source: 'docs/specification.md#context-gateway',
    says: 'The topic governance reports auth_kind, effective grants and the four current quota figures.',
  },
  {
    id: 'gateway.docs.topics',
    source: 'docs/specification.md#context-gateway',
    says: 'The topics ontology, query, tools and errors are each answered from the live service, and unknown topics are refused.',
  },
  {
    id: 'gateway.mode.get',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/projects/{projectId}/mode returns simple or governed.',
  },
  {
    id: 'gateway.mode.put',
    source: 'docs/specification.md#context-gateway',
    says: 'PUT /v1/projects/{projectId}/mode sets the mode and requires an admin.',
  },
  {
    id: 'gateway.run-agent',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/run-agent starts the promoted version of an agentflow and returns execution_id, status and lifecycle_id.',
  },
  {
    id: 'gateway.run-agent.unpromoted',
    source: 'docs/specification.md#context-gateway',
    says: 'run-agent on an agentflow without a promoted version is answered 409 conflict.',
  },
  {
    id: 'gateway.orchestrate',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/orchestrate lists, gets, pauses, resumes and cancels executions of the project.',
  },
  {
    id: 'gateway.orchestrate.grants',
    source: 'docs/specification.md#context-gateway',
    says: 'orchestrate requires svc:orchestrate.read for its reads and svc:orchestrate.write for its transitions.',
  },
  {
    id: 'gateway.save-skill',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/save-skill stores a skill of the project, with svc:skill.write.',
  },
  {
    id: 'gateway.save-model',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/save-model sets the default model of the project, with svc:model.write.',
  },
  {
    id: 'gateway.bind-repository',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/bind-repository binds an owner and name, and optionally a branch, to the project, with svc:codesync.write.',
  },
  {
    id: 'gateway.catalog-ingest',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/catalog/ingest stores entities and relationships of a source like save-context, with svc:ontology.write.',
  },

  {
    id: 'gateway.approvals.list',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/approvals lists approvals with every field of the contract, filtered by status and paged.',
  },
  {
    id: 'gateway.approvals.get',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/approvals/{id} returns the resume token of an approved approval only to its requester.',
  },
  {
    id: 'gateway.approvals.approve',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/approvals/{id}/approve approves a pending approval.',
  },
  {
    id: 'gateway.approvals.reject',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/approvals/{id}/reject rejects a pending approval.',
  },
  {
    id: 'gateway.approvals.unknown',
    source: 'docs/specification.md#errors',
    says: 'An unknown approval is answered 404 not_found.',
  },
  {
    id: 'gateway.lifecycles.get',
    source: 'docs/specification.md#governed-calls',
    says: 'GET /v1/lifecycles/{id} returns tool, status and all stages that ran, in order; the stage that refused is marked failed.',
  },
  {
    id: 'gateway.lifecycles.list',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/lifecycles lists them newest first, filtered by tool, status, from and to.',
  },
  {
    id: 'gateway.lifecycles.statuses',
    source: 'docs/specification.md#context-gateway',
    says: 'A lifecycle ends as completed, denied, pending_approval, failed or dry_run, like its call.',
  },
  {
    id: 'gateway.audit.list',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/audit lists entries with every field of the contract, and each hash includes the preceding one.',
  },
  {
    id: 'gateway.audit.verify',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/audit/verify reports validity, length, head, first broken entry and checkpoint.',
  },
  {
    id: 'gateway.audit.checkpoints',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/audit/checkpoints returns signed statements of length and head that verify against the published keys.',
  },
  {
    id: 'gateway.audit.export',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/audit/export streams JSON Lines that the verify-audit command checks without the service.',
  },
  {
    id: 'gateway.policy-decisions',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /v1/policy-decisions lists decisions with lifecycle, rules and policy version.',
  },
  {
    id: 'gateway.policies',
    source: 'docs/specification.md#context-gateway',
    says: 'GET and PUT /v1/policies read and replace the policies; this requires an admin, validates them and creates a new version.',
  },
  {
    id: 'gateway.policies.evaluate',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/policies/evaluate reports the decision on a request and has no side effects.',
  },
  {
    id: 'gateway.redaction.bounded',
    source: 'docs/guides/gateway.md',
    says: 'Long answers are redacted in a worker thread, in time proportional to their length.',
  },
] as const satisfies readonly Requirement[];
