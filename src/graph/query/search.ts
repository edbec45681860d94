import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { defaultAnalyzer, textIndexOf, type Analyzer } from '../language/analyzers.js';
import { validAtTimeOrInPeriods, type Moment } from './as-of.js';
import type { ScoredEntity } from './rank.js';
import { luceneQuery, phrasesOf, type Term } from './words.js';

/** The projects and the time of a question, as query parameters. */
export interface Scope extends Moment {
  projectIds: string[];
}

/** The maximum number of hits of one search that are ranked. */
const maxHits = 200;
/**
 * If some hits are facts that are not valid at the requested time, the search requests this many times more hits, up to
 * the maximum.
 */
const hitFactor = 8;
const maxRequested = 15_000;

export function keyOf(entity: string): string {
  return `{elementId: elementId(${entity}), project: ${entity}.project_id, id: ${entity}.id, names: ${entity}._names, times: ${entity}._times, since: ${entity}._since, until: ${entity}._until, savedAt: ${entity}._recorded_at, length: size(${entity}._search), asks: ${entity}._asks}`;
}

/** Returns the full-text index of each project's language, with its projects. */
export async function readPlaces(tx: ManagedTransaction, projectIds: readonly string[]): Promise<IndexedProjects[]> {
  const { records } = await tx.run(
    `UNWIND $projectIds AS id OPTIONAL MATCH (s:ProjectState {key: id})
     RETURN coalesce(s.analyzer, $default) AS analyzer, collect(id) AS projectIds`,
    { projectIds: [...projectIds], default: defaultAnalyzer },
  );
  return records.map((record) => {
    const { analyzer, projectIds: ids } = record.toObject() as { analyzer: Analyzer; projectIds: string[] };
    return { index: textIndexOf(analyzer), projectIds: ids };
  });
}

export interface IndexedProjects {
  index: string;
  projectIds: string[];
}

interface TextQuestion {
  text: string;
  terms: readonly Term[];
  places: readonly IndexedProjects[];
}

export interface TextHits {
  /** Best first. */
  hits: ScoredEntity[];
  /** Whether there are more. */
  isCut: boolean;
}

/** Finds entities by their own text and by the text of their facts. */
export async function searchText(
  tx: ManagedTransaction,
  { text, terms, places }: TextQuestion,
  scope: Scope,
): Promise<TextHits> {
  const found: TextHits[] = [];
  for (const { index, projectIds } of places) {
    const lucene = luceneQuery(terms, phrasesOf(text), projectIds);
    found.push(await searchIndex(tx, lucene, { ...scope, projectIds, index }));
  }
  const hits = found.flatMap((each) => each.hits).sort((a, b) => b.score - a.score);
  return { hits: hits.slice(0, maxHits), isCut: found.some(({ isCut }) => isCut) || hits.length > maxHits };
}

/** Searches one index. Words that the index ignores match only the scope term, with score 0. */
async function searchIndex(
  tx: ManagedTransaction,
  lucene: string,
  place: Scope & { index: string },
): Promise<TextHits> {
  for (let requested = maxHits; ; requested *= hitFactor) {
    const { records } = await tx.run(
      `CALL db.index.fulltext.queryNodes($index, $lucene, {limit: $asked}) YIELD node, score
       WITH node, score, score > 0 AND node.project_id IN $projectIds AND ${validAtTimeOrInPeriods('node')} AS holds
       OPTIONAL MATCH (subject:Entity)-[:HAS_FACT]->(node) WHERE holds AND subject.project_id = node.project_id
       WITH score, holds, coalesce(subject, node) AS entity
       WITH score, holds AND entity:Entity AND ${validAtTimeOrInPeriods('entity')} AS holds, entity
       RETURN count(*) AS found, collect(CASE WHEN holds THEN {entity: ${keyOf('entity')}, score: score} END) AS hits`,
      { ...place, lucene, asked: neo4j.int(requested) },
    );
    const hits = (records[0]?.get('hits') as ScoredEntity[] | undefined) ?? [];
    const found = Number(records[0]?.get('found') ?? 0);
    const isEnough = hits.length === found || new Set(hits.map(({ entity }) => entity.elementId)).size >= maxHits;
    if (found < requested || isEnough || requested * hitFactor > maxRequested)
      return { hits: hits.slice(0, maxHits), isCut: found >= requested || hits.length > maxHits };
  }
}
