import { flag, integer } from '../../governance/operations/operation.js';
import { z } from 'zod';
import { AppError, isAppError } from '../../base/errors.js';
import { looksLikeNaturalLanguage } from '../../graph/guard/natural-language.js';
import { unwrapped } from '../../graph/guard/unwrap.js';
import type { GuardedQuery } from '../../graph/guard/guard.js';
import { grantedProjects } from './granted-projects.js';
import { retrieve } from '../../graph/query/retrieve.js';
import { createCypherQueries, type CypherCall, type CypherQueries } from '../../graph/query/run-cypher.js';
import { ContextAnswer } from '../../graph/query/views.js';
import type { NearestByText } from '../../graph/vectors/nearest.js';
import type { Reranker } from '../../models/reranker.js';
import type { Redact } from '../../graph/redaction/redact.js';
import { Time } from '../../graph/save/input.js';
import type { Consumption } from '../../graph/store/provenance.js';
import type { Collections } from '../../stores/collections.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds } from '../../base/time.js';
import { namesProject, projectRefused } from '../../governance/tools/project-fields.js';
import { defineTool, type ToolContext } from '../../governance/tools/tool.js';

export const queryLimits = {
  limit: { default: 25, ceiling: 200 },
  timeoutMs: { default: 5000, ceiling: 30_000 },
  /** The maximum number of values. Each one is copied, measured and sent on the event loop, up to twice. */
  paramsValues: 20_000,
};

const QueryInput = z
  .strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(20_000)
      .describe('A question, or Cypher that starts with a read clause and filters on `project_id = $project_id`.'),
    params: z
      .record(z.string().min(1).max(100), z.unknown())
      .default({})
      .describe(
        `Parameters of the Cypher text, at most ${queryLimits.paramsValues.toLocaleString('en-US')} values; never the project.`,
      ),
    limit: z
      .number()
      .min(1)
      .default(queryLimits.limit.default)
      .transform((limit) => Math.min(Math.floor(limit), queryLimits.limit.ceiling))
      .describe('The number of rows, or of entities for a question; 25 by default, at most 200.'),
    timeout_ms: z
      .number()
      .min(1)
      .default(queryLimits.timeoutMs.default)
      .transform((ms) => Math.min(Math.floor(ms), queryLimits.timeoutMs.ceiling))
      .describe('5,000 by default, at most 30,000.'),
    as_of: Time.optional().describe('Returns what was valid at this time; the default is now.'),
    granted_projects: z
      .boolean()
      .default(false)
      .describe('`$project_ids` holds all projects granted to the caller, not this one alone.'),
    explain: z
      .boolean()
      .default(false)
      .describe('For a question: returns the parts of each score, and why vectors were not used.'),
    bookmark: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe('The bookmark of a save, so that the answer includes what it saved.'),
  })
  .meta({
    id: 'QueryContext',
    example: {
      query:
        'MATCH (c:Customer)-[r:OWNS]->(p:Product) WHERE c.project_id = $project_id AND p.price > $least RETURN c, r, p',
      params: { least: 50 },
      limit: 25,
    },
  });
type QueryInput = z.infer<typeof QueryInput>;

interface PreparedQuery {
  input: QueryInput;
  /** Undefined for a question in natural language. */
  query: GuardedQuery | undefined;
  projectIds: readonly string[];
  asOf: number;
}

interface QueryContextDeps {
  graph: Graph;
  redact: Redact;
  collections: Pick<Collections, 'memberships' | 'projects'>;
  nearestByText?: NearestByText;
  reranker?: Reranker | undefined;
}

/** Reads the context graph (specification, `POST /v1/query-context`). */
export const queryContextTool = defineTool(
  {
    name: 'query-context',
    grant: 'svc:query.read',
    effect: 'read',
    facts: { limit: integer('limit'), granted_projects: flag('granted_projects') },
  },
  (deps: QueryContextDeps) => {
    const { graph, redact, collections } = deps;
    const cypher = createCypherQueries(graph);
    return {
      title: 'Query the context graph',
      description:
        'Answers a question in natural language, or a read-only Cypher query, from the context graph of the project: ranked entities, relationships, facts and rows, each with its provenance; personal data is redacted.',
      input: QueryInput,
      output: ContextAnswer,
      hints: { readOnly: true, destructive: false, idempotent: true },
      resource: () => ({ type: 'context', id: 'graph' }),
      prepare: (input, ctx) => prepare(cypher, collections, input, ctx),
      dryRun: async ({ input, query, projectIds }) => ({
        query: query ? 'cypher' : 'natural_language',
        ...(query?.columns ? { columns: query.columns } : {}),
        projects: projectIds.length,
        limit: input.limit,
        timeout_ms: input.timeout_ms,
      }),
      async execute(prepared, ctx) {
        const consumed = { lifecycle_id: ctx.lifecycleId, run: ctx.executionId ?? null, at: epochSeconds() };
        const answer = await ask(cypher, deps, prepared, ctx, consumed);
        return {
          body: await redact(answer, ctx.principal.organizationId),
          consumed: answer.entities.map(({ id }) => id),
        };
      },
    };
  },
);

async function prepare(
  cypher: CypherQueries,
  collections: QueryContextDeps['collections'],
  input: QueryInput,
  ctx: ToolContext,
): Promise<PreparedQuery> {
  checkParams(input.params);
  const granted = input.granted_projects ? await grantedProjects(collections, ctx.principal) : [];
  const projectIds = [...new Set([ctx.projectId, ...granted])];
  const asOf = input.as_of ?? epochSeconds();
  const text = unwrapped(input.query);
  if (looksLikeNaturalLanguage(text)) return { input: { ...input, query: text }, query: undefined, projectIds, asOf };
  const prepared = { input, query: cypher.guard(text), projectIds, asOf };
  // If the database does not answer, S8 reports it.
  await cypher.check(callOf(prepared, prepared.query, ctx)).catch((error: unknown) => {
    if (!isAppError(error) || error.code !== 'data_service_unreachable') throw error;
  });
  return prepared;
}

function callOf({ input, projectIds, asOf }: PreparedQuery, query: GuardedQuery, ctx: ToolContext): CypherCall {
  const { params, limit, timeout_ms: timeoutMs, bookmark } = input;
  return {
    query,
    params,
    projectId: ctx.projectId,
    organizationId: ctx.principal.organizationId,
    grantedProjectIds: projectIds,
    asOf,
    limit,
    timeoutMs,
    bookmark,
    signal: ctx.signal,
  };
}

async function ask(
  cypher: CypherQueries,
  { graph, nearestByText, reranker }: QueryContextDeps,
  prepared: PreparedQuery,
  ctx: ToolContext,
  consumed: Consumption,
): Promise<ContextAnswer> {
  const { input, query, projectIds } = prepared;
  if (query) return cypher.run(callOf(prepared, query, ctx), consumed);
  const { query: text, limit, timeout_ms: timeoutMs, bookmark, explain } = input;
  const { organizationId } = ctx.principal;
  const question = {
    ...{ text, projectIds, organizationId, asOf: input.as_of, limit, timeoutMs, bookmark, explain },
    signal: ctx.signal,
  };
  return retrieve(graph, question, consumed, { nearest: graph.embeds ? nearestByText : undefined, reranker });
}

const maxDepth = 20;

/** Checks parameters at any depth, because a map can be a parameter. */
function checkParams(params: QueryInput['params']): void {
  let values = 0;
  const check = (value: unknown, place: string, depth: number): void => {
    values += 1;
    if (values > queryLimits.paramsValues)
      throw new AppError('invalid_input', `params: must contain at most ${queryLimits.paramsValues} values`);
    if (typeof value !== 'object' || value === null) return;
    if (depth > maxDepth)
      throw new AppError('invalid_input', `${place}: must not be nested deeper than ${maxDepth} levels`);
    for (const [name, each] of Object.entries(value)) {
      if (namesProject(name)) throw projectRefused(`${place}.${name}`);
      check(each, `${place}.${name}`.slice(0, 200), depth + 1);
    }
  };
  check(params, 'params', 0);
}
