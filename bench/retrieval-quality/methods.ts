import neo4j from 'neo4j-driver';
import { retrieve, type RetrieveOptions } from '../../src/graph/query/retrieve.js';
import type { NearestByText } from '../../src/graph/vectors/nearest.js';
import { scopeTerm } from '../../src/graph/store/names.js';
import { defaultAnalyzer, textIndexOf } from '../../src/graph/language/analyzers.js';
import type { Graph } from '../../src/stores/neo4j.js';

const maxResults = 25;
const candidates = 100;
/** Graphiti's `rrf` uses the rank constant 1. */
const rankConstant = 1;

/** Returns the ids of the best elements for a question. */
export type Method = (projectId: string, question: string) => Promise<string[]>;

/** Searches with the product, using the given options. */
export function productMethod(graph: Graph, options: RetrieveOptions): Method {
  return async (projectId, text) => {
    const question = {
      text,
      organizationId: 'bench',
      projectIds: [projectId],
      asOf: undefined,
      limit: maxResults,
      timeoutMs: 30_000,
    };
    const answer = await retrieve(graph, question, { lifecycle_id: 'bench', run: null, at: 0 }, options);
    return answer.entities.map(({ id }) => id);
  };
}

export function vectorMethod(graph: Graph, nearest: NearestByText): Method {
  return async (projectId, question) => {
    const answer = await nearest(projectId, question, candidates);
    if ('unavailable' in answer) throw new Error(answer.unavailable);
    return idsOf(
      graph,
      answer.hits.filter(({ kind }) => kind === 'entity').map(({ elementId }) => elementId),
    );
  };
}

/** Searches only by full text, for all words of the question and without the graph. */
export function bm25Method({ driver }: Graph): Method {
  return async (projectId, question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    const lucene = `+_scope:(${scopeTerm(projectId)})^0 +_words:(${words.join(' ').toLowerCase()})`;
    const { records } = await driver.executeQuery(
      `CALL db.index.fulltext.queryNodes($index, $lucene, {limit: $limit}) YIELD node, score
       WHERE node:Entity AND score > 0 RETURN node.id AS id ORDER BY score DESC, id`,
      { index: textIndexOf(defaultAnalyzer), lucene, limit: neo4j.int(candidates) },
    );
    return records.map((record) => record.get('id') as string);
  };
}

/** Searches like Graphiti's recipe: combines BM25 and cosine similarity by reciprocal rank. */
export function reciprocalRankMethod(methods: readonly Method[]): Method {
  return async (projectId, question) => {
    const lists = await Promise.all(methods.map((method) => method(projectId, question)));
    const scores = new Map<string, number>();
    for (const list of lists)
      for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (rank + rankConstant));
    return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id);
  };
}

async function idsOf({ driver }: Graph, elementIds: readonly string[]): Promise<string[]> {
  const { records } = await driver.executeQuery(
    'UNWIND range(0, size($ids) - 1) AS at MATCH (n) WHERE elementId(n) = $ids[at] RETURN n.id AS id ORDER BY at',
    { ids: elementIds },
  );
  return records.map((record) => record.get('id') as string);
}
