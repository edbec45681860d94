import { permissionOf, textFacts } from '../../governance/operations/operation.js';
import { z } from 'zod';
import { heldGrants, permits, principalKinds, type Principal } from '../../auth/principal.js';
import { stageDocs } from '../../governance/kernel/stage-ids.js';
import type { QuotaUsage } from '../../governance/quota/quota.js';
import { guardLimits, guardRules } from '../../graph/guard/limits.js';
import { examplesOf } from '../../graph/query/examples.js';
import { readProjectMode } from '../../graph/project-mode.js';
import { saveBounds } from '../../graph/save/input.js';
import type { Collections } from '../../stores/collections.js';
import type { Graph } from '../../stores/neo4j.js';
import { jsonSchemaOf } from '../../governance/tools/json-schema.js';
import { defineTool, mcpNameOf, routeOf, type Tool, type ToolContext } from '../../governance/tools/tool.js';
import { LanguageSetting } from '../../graph/language/analyzers.js';
import { readLanguage } from '../../graph/language/state.js';
import { readEmbeddingReport } from '../../graph/vectors/report.js';
import type { Embedder } from '../../models/embedder.js';
import type { Reranker } from '../../models/reranker.js';
import { stateOf } from './ontology.js';
import { queryLimits } from './query-context.js';

export interface DocsDeps {
  graph: Graph;
  embedder: Pick<Embedder, 'model' | 'problem'>;
  reranker?: Pick<Reranker, 'model'> | undefined;
  collections: Pick<Collections, 'ontology_drafts' | 'ontology_versions' | 'project_modes'>;
  /** The current usage of both quota windows. */
  quotaUsage(subject: { projectId: string; organizationId: string }): Promise<QuotaUsage>;
  /** The version in force, as the policy engine reports it. */
  policyVersion(organizationId: string): Promise<number | string>;
  /** All tools of the gateway, including this one; read when the topic needs them. */
  tools(): readonly Tool[];
  /** The errors that a caller of a tool may get, as the surface describes them. */
  errors: readonly object[];
}

const Topic = z.enum(['governance', 'ontology', 'query', 'retrieval', 'tools', 'errors']);
const DocsInput = z.strictObject({ topic: Topic }).meta({ id: 'DocsRequest', example: { topic: 'governance' } });
const DocsAnswer = z
  .looseObject({
    topic: Topic,
    auth_kind: z.enum(principalKinds),
    client_id: z.string().optional().meta({ example: 'https://app.acme.dev/client.json' }),
    grants: z.array(z.string().meta({ example: 'svc:query.read' })),
    quota: z.object({
      org_window_max: z.int().meta({ example: 600 }),
      org_window_used: z.int().meta({ example: 40 }),
      project_window_max: z.int().meta({ example: 120 }),
      project_window_used: z.int().meta({ example: 14 }),
    }),
  })
  .meta({
    id: 'DocsAnswer',
    description: 'Every topic returns the caller and the remaining quota; the other fields depend on the topic.',
  });

/** Live documentation (specification, `POST /v1/docs`). */
export const docsTool = defineTool(
  { name: 'docs', grant: 'svc:docs.read', effect: 'read', facts: textFacts('topic') },
  (deps: DocsDeps) => ({
    title: 'Live documentation',
    description:
      'Returns the current documentation of a topic: governance (credential, grants, quota, mode), the ontology, how to query, how far retrieval by meaning is, the tools or the errors.',
    input: DocsInput,
    output: DocsAnswer,
    hints: { readOnly: true, destructive: false, idempotent: true },
    resource: ({ topic }) => ({ type: 'docs', id: topic }),
    dryRun: async ({ topic }) => ({ read: topic }),
    async execute({ topic }, ctx) {
      const [caller, rest] = await Promise.all([callerOf(deps, ctx), topics[topic](deps, ctx)]);
      return { body: { topic, ...caller, ...rest } };
    },
  }),
);

async function callerOf({ quotaUsage }: DocsDeps, { principal, projectId, organizationId }: ToolContext) {
  const { kind, clientId, grants } = principal;
  return {
    auth_kind: kind,
    ...(clientId === undefined ? {} : { client_id: clientId }),
    // A person has the grants of their roles, which the credential does not list.
    grants: [...new Set([...grants, ...heldGrants(principal)])],
    quota: await quotaUsage({ projectId, organizationId }),
  };
}

const policyDocs = [
  { route: 'GET /v1/policies', does: 'shows the rules in force' },
  { route: 'POST /v1/policies/evaluate', does: 'decides a hypothetical call' },
  {
    route: 'POST /v1/policies/simulate',
    does: 'lists the recorded calls that other rules would have decided differently',
  },
  { route: 'POST /v1/policies/rules', does: 'adds one rule and keeps the others' },
  { route: 'PATCH /v1/policies/rules/{policy_id}', does: 'changes one rule' },
  { route: 'DELETE /v1/policies/rules/{policy_id}', does: 'deletes one rule' },
  { route: 'PUT /v1/policies', does: 'replaces all rules of the organization by a new version' },
] as const;

const searchRules = [
  'A question is searched by its words, by vectors if there is an endpoint, and in the neighbourhood of the matches; the scores are scaled and added.',
  'A second search uses words that the best matches share, for questions that need several pieces.',
  'What the question names counts more: an entity, a short value of it such as its speaker, a day, month or year.',
  'With as_of, only entities, relationships and facts that were valid at that time are found; without it, a time that the question names adds what was valid then. Of equal matches, the last saved comes first.',
  'explain: true returns the parts of each score, and why vectors or reranking were not used.',
];

type TopicOf = (deps: DocsDeps, ctx: ToolContext) => Promise<Record<string, unknown>>;

const topics: Record<z.infer<typeof Topic>, TopicOf> = {
  async governance({ collections, policyVersion }, { principal, projectId, organizationId }) {
    const [mode, version] = await Promise.all([readProjectMode(collections, projectId), policyVersion(organizationId)]);
    return { scope: scopeOf(principal), mode, policy_version: version, stages: stageDocs, policies: policyDocs };
  },
  ontology: async (deps, { projectId }) => ({ ...(await stateOf(deps, projectId)) }),
  async query(deps, { projectId }) {
    const { ontology } = await stateOf(deps, projectId);
    return {
      rules: [
        'Begin with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN or CALL { … }; the query may only read.',
        'Filter on project_id = $project_id, or on project_id IN $project_ids with granted_projects.',
        'Parameters come in params; project_id is never one of them.',
        'A text that is not Cypher is a search: full text first, then related entities in the graph.',
        ...guardRules(),
        'Facts are nodes (:Fact {subject, predicate, object, confidence, valid_from, valid_to}); as_of selects the time at which they must be valid.',
      ],
      limits: {
        limit: queryLimits.limit,
        timeout_ms: queryLimits.timeoutMs,
        params_values: queryLimits.paramsValues,
        query: guardLimits,
        save: saveBounds,
      },
      examples: examplesOf(ontology),
    };
  },
  async retrieval({ graph, embedder, reranker }, { projectId }) {
    const { model } = embedder;
    const { setting, language, analyzer, next } = await readLanguage(graph, projectId);
    const languages = { setting, language, analyzer, building: next, supported: LanguageSetting.options };
    const search = { rules: searchRules, reranking: { model: reranker?.model ?? null }, language: languages };
    if (model === undefined)
      return { search, embeddings: { endpoint: null, says: 'no endpoint is configured: search uses text' } };
    const report = await readEmbeddingReport(graph, projectId);
    return { search, embeddings: { endpoint: { ...model, problem: embedder.problem() }, ...report } };
  },
  tools: async ({ tools }, { principal }) => ({ tools: tools().map((tool) => toolDocs(tool, principal)) }),
  errors: async ({ errors }) => ({ errors }),
};

function scopeOf({ organizationId, departmentId, projectId, userId, role }: Principal) {
  return { org_id: organizationId, dept_id: departmentId, project_id: projectId, user_id: userId, role };
}

function toolDocs(tool: Tool, principal: Principal): Record<string, unknown> {
  const { method, path } = routeOf(tool);
  const { grant: needed } = tool.operation;
  const grant = typeof needed === 'function' || needed === 'any' ? undefined : needed;
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    route: `${method.toUpperCase()} ${path}`,
    mcp_tool: mcpNameOf(tool),
    ...(grant === undefined ? {} : { grant, granted: permits(principal, permissionOf(tool.operation, {})) }),
    ...tool.hints,
    input: jsonSchemaOf(tool.input),
  };
}
