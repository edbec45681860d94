import { permissionOf, textFacts } from '../../governance/operations/operation.js';
import { z } from 'zod';
import { heldGrants, permits, principalKinds, type Principal } from '../../auth/principal.js';
import { stageDocs } from '../../governance/kernel/stage-ids.js';
import { guardLimits, guardRules } from '../../graph/guard/limits.js';
import { examplesOf } from '../../graph/query/examples.js';
import { readProjectMode } from '../../graph/project-mode.js';
import { saveBounds } from '../../graph/save/input.js';
import { jsonSchemaOf } from '../../governance/tools/json-schema.js';
import { mcpNameOf } from '../../governance/tools/tool.js';
import type { Deps } from '../deps.js';
import { defineOperation, type DomainTool } from '../operation.js';
import { LanguageSetting } from '../../graph/language/analyzers.js';
import { readLanguage } from '../../graph/language/state.js';
import { readEmbeddingReport } from '../../graph/vectors/report.js';
import { stateOf } from './ontology.js';
import { queryLimits } from './query-context.js';

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

/** Live documentation (docs/specification.md, `POST /v1/docs`). */
export const readDocs = defineOperation({
  name: 'docs',
  grant: 'svc:docs.read',
  effect: 'read',
  facts: textFacts('topic'),
  tool: {
    title: 'Live documentation',
    description:
      'Returns the current documentation of a topic: governance (credential, grants, quota, mode), the ontology, how to query, how far retrieval by meaning is, the tools or the errors.',
    hints: { readOnly: true, destructive: false, idempotent: true },
  },
  input: DocsInput,
  output: DocsAnswer,
  resource: ({ input }) => ({ type: 'docs', id: input.topic }),
  dryRun: async ({ input }) => ({ read: input.topic }),
  async run({ deps, ctx: { principal }, input: { topic } }) {
    const [caller, rest] = await Promise.all([callerOf(deps, principal), topics[topic](deps, principal)]);
    return { topic, ...caller, ...rest };
  },
});

async function callerOf({ governance }: Deps, principal: Principal) {
  const { kind, clientId, grants, projectId, organizationId } = principal;
  return {
    auth_kind: kind,
    ...(clientId === undefined ? {} : { client_id: clientId }),
    // A person has the grants of their roles, which the credential does not list.
    grants: [...new Set([...grants, ...heldGrants(principal)])],
    quota: await governance.quota.usage({ projectId, organizationId }),
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

type TopicOf = (deps: Deps, principal: Principal) => Promise<Record<string, unknown>>;

const topics: Record<z.infer<typeof Topic>, TopicOf> = {
  async governance({ mongo, governance }, principal) {
    const [mode, version] = await Promise.all([
      readProjectMode(mongo.collections, principal.projectId),
      governance.policies.versionInForce(principal.organizationId),
    ]);
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
  tools: async ({ reference }, principal) => ({
    tools: reference.tools.map(({ tool, route }) => toolDocs(tool, route, principal)),
  }),
  errors: async ({ reference }) => ({ errors: reference.errors }),
};

function scopeOf({ organizationId, departmentId, projectId, userId, role }: Principal) {
  return { org_id: organizationId, dept_id: departmentId, project_id: projectId, user_id: userId, role };
}

/** The grant is stated if every call of the tool needs the same one. */
function toolDocs(tool: DomainTool, route: string, principal: Principal): Record<string, unknown> {
  const [first, ...others] = tool.cases.map(({ operation }) => operation);
  const isSame = others.every(({ grant }) => grant === first?.grant);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    route,
    mcp_tool: mcpNameOf(tool),
    ...(first && isSame && { grant: first.grant, granted: permits(principal, permissionOf(first)) }),
    ...tool.hints,
    input: jsonSchemaOf(tool.input),
  };
}
