import type { ManagedTransaction } from 'neo4j-driver';
import { abortWith } from '../../base/async.js';
import type { Nearest, NearestByText } from '../vectors/nearest.js';
import { validAtTimeOrInPeriods, type Moment } from './as-of.js';
import type { ScoredEntity } from './rank.js';
import { keyOf, type Scope } from './search.js';

export interface VectorAnswer {
  hits: readonly Nearest[];
  /** The generations of the compared vectors, one per project. */
  generations: string[];
  /** The reason why the vectors of some or all projects were not used. */
  unavailable?: string;
}

/** Further hits are hardly closer to the question than any other text. */
const maxHits = 100;
/** For a question about many granted projects, vectors are compared only in the first ones. Text covers the others. */
const maxProjects = 5;
/** The maximum time that the search waits for vectors before it continues with text alone. */
const maxWaitMs = 3000;

export async function nearestTo(
  nearest: NearestByText | undefined,
  question: {
    text: string;
    projectIds: readonly string[];
    organizationId: string;
    moment: Moment;
    timeoutMs: number;
    bookmark?: string | undefined;
  },
  signal: AbortSignal | undefined,
): Promise<VectorAnswer> {
  if (!nearest) return { hits: [], generations: [], unavailable: 'no embedding endpoint is configured' };
  const timeoutMs = Math.min(question.timeoutMs, maxWaitMs);
  const deadline = AbortSignal.timeout(timeoutMs);
  const options = {
    moment: question.moment,
    organizationId: question.organizationId,
    timeoutMs,
    bookmark: question.bookmark,
    signal: signal ? abortWith(signal, deadline).signal : deadline,
  };
  const answers = await Promise.all(
    question.projectIds.slice(0, maxProjects).map((projectId) =>
      nearest(projectId, question.text, maxHits, options).catch((error: unknown) => {
        if (!deadline.aborted || signal?.aborted) throw error;
        return { unavailable: `the vectors did not answer within ${timeoutMs} ms` };
      }),
    ),
  );
  const used = answers.filter((answer) => 'hits' in answer);
  const unavailable = answers.find((answer) => 'unavailable' in answer)?.unavailable;
  return {
    hits: used.flatMap(({ hits }) => hits),
    generations: used.map(({ generation }) => generation),
    ...(unavailable !== undefined && { unavailable }),
  };
}

/**
 * Returns the entities of the hits that belong to the projects and are valid at the time. A fact counts for its
 * subject, and a relationship for both of its entities.
 */
export async function vectorHits(
  tx: ManagedTransaction,
  hits: readonly Nearest[],
  scope: Scope,
): Promise<ScoredEntity[]> {
  if (hits.length === 0) return [];
  const { records } = await tx.run(
    `CALL () {
       UNWIND $nodes AS hit MATCH (node:_Scoped) WHERE elementId(node) = hit.elementId AND node.project_id IN $projectIds AND ${validAtTimeOrInPeriods('node')}
       OPTIONAL MATCH (subject:Entity)-[:HAS_FACT]->(node) WHERE subject.project_id = node.project_id
       RETURN hit, coalesce(subject, node) AS entity
       UNION ALL
       UNWIND $links AS hit MATCH (from:Entity)-[r]->(to:Entity) WHERE elementId(r) = hit.elementId AND ${validAtTimeOrInPeriods('r')}
       UNWIND [from, to] AS entity RETURN hit, entity
     }
     WITH hit, entity WHERE entity:Entity AND entity.project_id IN $projectIds AND ${validAtTimeOrInPeriods('entity')}
     RETURN ${keyOf('entity')} AS entity, hit.score AS score`,
    {
      ...scope,
      nodes: hits.filter(({ kind }) => kind !== 'relationship').map(scored),
      links: hits.filter(({ kind }) => kind === 'relationship').map(scored),
    },
  );
  return records.map((record) => record.toObject() as unknown as ScoredEntity);
}

function scored({ elementId, score }: Nearest) {
  return { elementId, score };
}
