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
import { Time } from '../../graph/save/input.js';
import type { Consumption } from '../../graph/store/provenance.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds } from '../../base/time.js';
import { namesProject, projectRefused } from '../../governance/tools/project-fields.js';
import type { CallContext } from '../../governance/operations/call-context.js';
import type { Deps } from '../deps.js';
import { defineOperation } from '../operation.js';

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

type QueryDeps = Pick<Deps, 'graph' | 'mongo' | 'redact' | 'nearestByText' | 'reranker'>;

/** Reads the context graph (docs/specification.md, `POST /v1/query-context`). */
export const queryContext = defineOperation({
  name: 'query-context',
  grant: 'svc:query.read',
  effect: 'read',
  facts: { limit: integer('limit'), granted_projects: flag('granted_projects') },
  tool: {
    title: 'Query the context graph',
    description:
      'Answers a question in natural language, or a read-only Cypher query, from the context graph of the project: ranked entities, relationships, facts and rows, each with its provenance; personal data is redacted.',
    hints: { readOnly: true, destructive: false, idempotent: true },
  },
  input: QueryInput,
  output: ContextAnswer,
  resource: () => ({ type: 'context', id: 'graph' }),
  prepare: ({ deps, ctx, input }) => prepare(deps, input, ctx),
  dryRun: async ({ prepared: { input, query, projectIds } }) => ({
    query: query ? 'cypher' : 'natural_language',
    ...(query?.columns ? { columns: query.columns } : {}),
    projects: projectIds.length,
    limit: input.limit,
    timeout_ms: input.timeout_ms,
  }),
  async run({ deps, ctx, prepared }) {
    const { principal, lifecycleId } = ctx;
    const consumed = { lifecycle_id: lifecycleId, run: principal.executionId ?? null, at: epochSeconds() };
    const answer = await ask(deps, prepared, ctx, consumed);
    ctx.noteConsumed(answer.entities.map(({ id }) => id));
    return deps.redact(answer, principal.organizationId);
  },
});

const cyphers = new WeakMap<Graph, CypherQueries>();

/** The prepared queries of a graph, which remember what they have planned. */
function cypherOf(graph: Graph): CypherQueries {
  const known = cyphers.get(graph) ?? createCypherQueries(graph);
  cyphers.set(graph, known);
  return known;
}

async function prepare({ graph, mongo }: QueryDeps, input: QueryInput, ctx: CallContext): Promise<PreparedQuery> {
  checkParams(input.params);
  const { principal } = ctx;
  const granted = input.granted_projects ? await grantedProjects(mongo.collections, principal) : [];
  const projectIds = [...new Set([principal.projectId, ...granted])];
  const asOf = input.as_of ?? epochSeconds();
  const text = unwrapped(input.query);
  if (looksLikeNaturalLanguage(text)) return { input: { ...input, query: text }, query: undefined, projectIds, asOf };
  const cypher = cypherOf(graph);
  const prepared = { input, query: cypher.guard(text), projectIds, asOf };
  // If the database does not answer, S8 reports it.
  await cypher.check(callOf(prepared, prepared.query, ctx)).catch((error: unknown) => {
    if (!isAppError(error) || error.code !== 'data_service_unreachable') throw error;
  });
  return prepared;
}

function callOf({ input, projectIds, asOf }: PreparedQuery, query: GuardedQuery, ctx: CallContext): CypherCall {
  const { params, limit, timeout_ms: timeoutMs, bookmark } = input;
  return {
    query,
    params,
    projectId: ctx.principal.projectId,
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
  { graph, nearestByText, reranker }: QueryDeps,
  prepared: PreparedQuery,
  ctx: CallContext,
  consumed: Consumption,
): Promise<ContextAnswer> {
  const { input, query, projectIds } = prepared;
  if (query) return cypherOf(graph).run(callOf(prepared, query, ctx), consumed);
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
