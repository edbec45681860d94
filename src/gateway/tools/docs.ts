import { z } from 'zod';
import { principalKinds, type Principal } from '../../auth/principal.js';
import type { QuotaUsage } from '../../governance/quota/quota.js';
import { examplesOf } from '../../graph/query/examples.js';
import { readProjectMode } from '../../graph/project-mode.js';
import { saveBounds } from '../../graph/save/input.js';
import type { Collections } from '../../stores/collections.js';
import type { Graph } from '../../stores/neo4j.js';
import { jsonSchemaOf } from '../json-schema.js';
import { defineTool, mcpNameOf, routeOf, type Tool, type ToolContext } from '../tool.js';
import { errorDocs, stageDocs } from './docs-errors.js';
import { stateOf } from './ontology.js';
import { queryLimits } from './query-context.js';

export interface DocsDeps {
  graph: Graph;
  collections: Pick<Collections, 'ontology_drafts' | 'ontology_versions' | 'project_modes'>;
  /** The two windows as they are now. */
  quotaUsage(subject: { projectId: string; organizationId: string }): Promise<QuotaUsage>;
  /** What the policy engine would tell of the version in force. */
  policyVersion(organizationId: string): Promise<number | string>;
  /** All tools of the gateway, this one too; asked when the topic is. */
  tools(): readonly Tool[];
}

const Topic = z.enum(['governance', 'ontology', 'query', 'tools', 'errors']);
const DocsInput = z.strictObject({ topic: Topic }).meta({ id: 'DocsRequest', example: { topic: 'governance' } });
const DocsAnswer = z
  .looseObject({
    topic: Topic,
    auth_kind: z.enum(principalKinds),
    client_id: z.string().optional(),
    grants: z.array(z.string()),
    quota: z.object({ org_window_max: z.int(), org_window_used: z.int(), project_window_max: z.int(), project_window_used: z.int() }),
  })
  .meta({ id: 'DocsAnswer', description: 'Every topic tells who calls and how much is left; the rest is the topic’s.' });

/** Live documentation (specification, `POST /v1/docs`). */
export function createDocsTool(deps: DocsDeps): Tool {
  return defineTool({
    name: 'docs',
    title: 'Live documentation',
    description: 'Tells, as it is now: governance (credential, grants, quota, mode), the ontology, how to query, the tools, the errors.',
    grant: 'svc:docs.read',
    input: DocsInput,
    output: DocsAnswer,
    hints: { readOnly: true, destructive: false, idempotent: true },
    resource: ({ topic }) => ({ type: 'docs', id: topic }),
    prepare: async (input) => input,
    dryRun: async ({ topic }) => ({ read: topic }),
    async execute({ topic }, ctx) {
      const [caller, rest] = await Promise.all([callerOf(deps, ctx), topics[topic](deps, ctx)]);
      return { body: { topic, ...caller, ...rest } };
    },
  });
}

async function callerOf({ quotaUsage }: DocsDeps, { principal, projectId, organizationId }: ToolContext) {
  const { kind, clientId, grants } = principal;
  return {
    auth_kind: kind,
    ...(clientId === undefined ? {} : { client_id: clientId }),
    grants: [...grants],
    quota: await quotaUsage({ projectId, organizationId }),
  };
}

type TopicOf = (deps: DocsDeps, ctx: ToolContext) => Promise<Record<string, unknown>>;

const topics: Record<z.infer<typeof Topic>, TopicOf> = {
  async governance({ collections, policyVersion }, { principal, projectId, organizationId }) {
    const [mode, version] = await Promise.all([readProjectMode(collections, projectId), policyVersion(organizationId)]);
    return { scope: scopeOf(principal), mode, policy_version: version, stages: stageDocs };
  },
  ontology: async (deps, { projectId }) => ({ ...(await stateOf(deps, projectId)) }),
  async query(deps, { projectId }) {
    const { ontology } = await stateOf(deps, projectId);
    return {
      rules: [
        'Begin with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN or CALL { … }; the query may only read.',
        'Filter on project_id = $project_id, or on project_id IN $project_ids with granted_projects.',
        'Parameters come in params; project_id is never one of them.',
        'Any text that is no Cypher is searched for: full text, then the neighbourhood in the graph.',
        'Facts are nodes (:Fact {subject, predicate, object, confidence, valid_from, valid_to}); as_of tells the time they are asked for.',
      ],
      limits: { limit: queryLimits.limit, timeout_ms: queryLimits.timeoutMs, save: saveBounds },
      examples: examplesOf(ontology),
    };
  },
  tools: async ({ tools }, { principal }) => ({ tools: tools().map((tool) => toolDocs(tool, principal)) }),
  errors: async () => ({ errors: errorDocs }),
};

function scopeOf({ organizationId, departmentId, projectId, userId, role }: Principal) {
  return { org_id: organizationId, dept_id: departmentId, project_id: projectId, user_id: userId, role };
}

function toolDocs(tool: Tool, principal: Principal): Record<string, unknown> {
  const { method, path } = routeOf(tool);
  const grant = typeof tool.grant === 'function' ? undefined : tool.grant;
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    route: `${method.toUpperCase()} ${path}`,
    mcp_tool: mcpNameOf(tool),
    ...(grant === undefined ? {} : { grant, granted: principal.grants.includes(grant) }),
    ...tool.hints,
    input: jsonSchemaOf(tool.input),
  };
}
