import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { graphText } from '../graph-text.js';
import { validAtTimeOrInPeriods, type Moment } from '../query/as-of.js';
import { inReadTransaction, type Connection } from '../store/sessions.js';
import type { VectorKind } from './elements.js';
import { vectorIndex, vectorLabel, type Generation } from './generation.js';

export interface Nearest {
  /** Neo4j's id of the node or relationship, as `elementId()` returns it. */
  elementId: string;
  /** The id in the project. */
  id: string;
  kind: VectorKind;
  /** The cosine similarity, from 1 (same direction) to 0 (opposite). */
  score: number;
}

type NearestAnswer =
  /** The hits, best first. `generation` is the id of the compared vectors. */
  | { hits: Nearest[]; generation: string }
  /** The reason why vectors are not available. The caller falls back to text. */
  | { unavailable: string };

interface NearestOptions {
  /** Selects elements that are valid at that time. If omitted, selects elements of any time except superseded facts. */
  moment?: Moment;
  /** The timeout of each of the two queries. */
  timeoutMs?: number;
  bookmark?: string | undefined;
  /** The organization that asks. Without it, the project counts for itself. */
  organizationId?: string;
  signal?: AbortSignal;
}

/** Finds the nearest elements to a question within one project, by vectors. */
export type NearestByText = (
  projectId: string,
  question: string,
  limit: number,
  options?: NearestOptions,
) => Promise<NearestAnswer>;

interface NearestDeps {
  graph: Connection;
  /** Returns the vector of the question from the model of the generation. */
  embed(
    question: string,
    model: Generation,
    options: { owner: string; signal: AbortSignal | undefined },
  ): Promise<readonly number[]>;
  /** Whether an endpoint is configured. */
  isConfigured: boolean;
  /** Returns the message for the caller if `embed` fails. Other errors are thrown. */
  reasonOf(error: unknown): string | undefined;
  /** The maximum number of a project's vectors that are all compared. Above it, the index finds candidates. */
  exactUpTo?: number;
}

export const maxExact = 3000;
/**
 * The maximum in characters. A model refuses longer texts, or takes too long. Full text also uses only the first words
 * of a question.
 */
const maxQuestion = 2000;
/**
 * The index finds the nearest vectors of all projects, so the search requests more until it has enough of the project's
 * own.
 */
const firstFactor = 4;
const nextFactor = 8;
const maxRequested = 20_000;
const defaultTimeoutMs = 10_000;

/** Creates the search. Searches use the last complete generation, even while the next one is built. */
export function createNearestByText({
  graph,
  embed,
  isConfigured,
  reasonOf,
  exactUpTo = maxExact,
}: NearestDeps): NearestByText {
  return async (projectId, question, limit, options = {}) => {
    if (!isConfigured) return { unavailable: 'no embedding endpoint is configured' };
    const { organizationId, signal } = options;
    const asking = { owner: organizationId ?? projectId, signal };
    const read = <T>(work: (tx: ManagedTransaction) => Promise<T>) =>
      inReadTransaction(graph, work, {
        timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
        projectIds: [projectId],
        organizationId,
        bookmark: options.bookmark,
        ...(options.signal && { signal: options.signal }),
      });
    const known = await read((tx) => readGeneration(tx, projectId, exactUpTo));
    if (!known) return { unavailable: 'the project is not embedded yet' };
    const vector = await embed(graphText(question, maxQuestion), known.generation, asking).catch((error: unknown) => {
      const unavailable = reasonOf(error);
      if (unavailable === undefined) throw error;
      return { unavailable };
    });
    if ('unavailable' in vector) return vector;
    const search = { projectId, generation: known.generation.id, vector, limit, ...options };
    const hits = await read((tx) => (known.isSmall ? exact(tx, search) : fromIndex(tx, search)));
    return { hits, generation: known.generation.id };
  };
}

async function readGeneration(
  tx: ManagedTransaction,
  projectId: string,
  exactUpTo: number,
): Promise<{ generation: Generation; isSmall: boolean } | undefined> {
  const { records } = await tx.run(
    `MATCH (s:ProjectState {key: $projectId}) MATCH (g:_Generation {key: s.embedding_generation})
     RETURN g.key AS id, g.model AS model, g.dimensions AS dimensions,
       COUNT { MATCH (v:_Vector {project: $projectId}) RETURN v LIMIT $limit } AS vectors`,
    { projectId, limit: neo4j.int(exactUpTo + 1) },
  );
  const found = records[0]?.toObject() as
    { id: string; model: string; dimensions: number; vectors: number } | undefined;
  if (!found) return undefined;
  const { id, model, dimensions, vectors } = found;
  return { generation: { id, model, dimensions: Number(dimensions) }, isSmall: Number(vectors) <= exactUpTo };
}

interface Search extends NearestOptions {
  projectId: string;
  generation: string;
  vector: readonly number[];
  limit: number;
}

async function exact(tx: ManagedTransaction, search: Search): Promise<Nearest[]> {
  const { records } = await tx.run(
    `MATCH (v:_Vector {project: $projectId}) WHERE v.generation = $generation
     WITH v, vector.similarity.cosine(v.embedding, $vector) AS score ${elements(search)}
     RETURN ${found} ORDER BY score DESC, id LIMIT $limit`,
    parametersOf(search),
  );
  return records.map((record) => record.toObject() as unknown as Nearest);
}

/**
 * Finds candidates in the index. A project with a small share of all vectors may need many of them. If they do not
 * suffice, all its vectors are compared.
 */
async function fromIndex(tx: ManagedTransaction, search: Search): Promise<Nearest[]> {
  for (let requested = search.limit * firstFactor; requested <= maxRequested; requested *= nextFactor) {
    const { records } = await tx.run(
      `CALL db.index.vector.queryNodes($index, $asked, $vector) YIELD node AS v
       WITH v WHERE v:${vectorLabel(search.generation)} AND v.project = $projectId
       WITH v, vector.similarity.cosine(v.embedding, $vector) AS score ${elements(search)}
       RETURN ${found} ORDER BY score DESC, id LIMIT $limit`,
      { ...parametersOf(search), index: vectorIndex(search.generation), asked: neo4j.int(requested) },
    );
    if (records.length >= search.limit) return records.map((record) => record.toObject() as unknown as Nearest);
  }
  return exact(tx, search);
}

const found = 'elementId(e) AS elementId, e.id AS id, v.kind AS kind, score';

/** Joins vectors with their elements in the project, so that no hit is deleted or superseded. */
function elements({ moment }: Search): string {
  const validThen = (element: string) => (moment === undefined ? '' : ` AND ${validAtTimeOrInPeriods(element)}`);
  return `CALL (v) {
      WITH v WHERE v.kind = 'entity' MATCH (n:Entity {project_id: $projectId, id: v.id}) WHERE true${validThen('n')} RETURN n AS e
      UNION ALL
      WITH v WHERE v.kind = 'fact'
      MATCH (f:Fact {project_id: $projectId, id: v.id}) WHERE f.superseded_at IS NULL${validThen('f')} RETURN f AS e
      UNION ALL
      WITH v WHERE v.kind = 'relationship'
      MATCH (:Entity {project_id: $projectId, id: v.from})-[r]->(:Entity {project_id: $projectId, id: v.to})
      WHERE r.id = v.id${validThen('r')} RETURN r AS e
    }`;
}

function parametersOf({ projectId, generation, vector, limit, moment }: Search) {
  return { projectId, generation, vector: [...vector], limit: neo4j.int(limit), ...moment };
}
