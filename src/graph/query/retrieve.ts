import neo4j, { type ManagedTransaction, type Node, type Record, type Relationship, type Result } from 'neo4j-driver';
import type { Consumption } from '../store/provenance.js';
import { textIndex } from '../store/schema.js';
import { fetchSize, inReadTransaction, type Connection } from '../store/sessions.js';
import { heldAt, timeParameter } from './as-of.js';
import { createRanking, type EntityKey, type Neighbour, type Ranked } from './rank.js';
import { maxAnswerLength, toEntityView, toFactView, toRelationshipView, type ContextAnswer } from './views.js';
import { luceneQuery, wordsOf } from './words.js';

export interface Question {
  text: string;
  /** The project of the caller, or the projects granted to them. */
  projectIds: readonly string[];
  asOf: number;
  limit: number;
  timeoutMs: number;
  bookmark?: string | undefined;
  signal?: AbortSignal;
}

const maxHits = 200;
/**
 * Facts that are not valid at the requested time use up hits. In that case the search asks for this many times more,
 * up to the maximum.
 */
const hitFactor = 8;
const maxRequested = 15_000;
/** The maximum of relationships per entity that are considered for neighbours. */
const maxTraversed = 2000;
const maxSeeds = 25;
const maxSecondHopSeeds = 10;
const maxNeighboursPerEntity = 20;
const maxFactsPerEntity = 20;

/**
 * Searches full text, then up to two hops around the matches, and ranks the result. The limit bounds the work, not
 * the size of the graph. Reads stored properties only for the answer.
 */
export function retrieve(graph: Connection, question: Question, consumed: Consumption): Promise<ContextAnswer> {
  const words = wordsOf(question.text);
  const { limit, timeoutMs } = question;
  if (words.length === 0)
    return Promise.resolve({ entities: [], relationships: [], facts: [], rows: [], limit, truncated: false });
  return inReadTransaction(graph, (tx) => answer(tx, words, question, consumed), {
    timeoutMs,
    fetchSize,
    projectIds: question.projectIds,
    bookmark: question.bookmark,
    ...(question.signal && { signal: question.signal }),
  });
}

async function answer(
  tx: ManagedTransaction,
  words: readonly string[],
  question: Question,
  consumed: Consumption,
): Promise<ContextAnswer> {
  const scope = { projectIds: [...question.projectIds], [timeParameter]: question.asOf };
  const ranking = createRanking();
  const { hits, isCut } = await search(tx, words, question.limit, scope);
  for (const { entity, score } of hits) ranking.hit(entity, score);
  const first = ranking.best(maxSeeds);
  const near = await neighbourhood(tx, first, scope);
  ranking.neighbours(near.neighbours);
  const walked = new Set(first.map(({ elementId }) => elementId));
  const second = ranking.best(first.length + maxSecondHopSeeds).filter(({ elementId }) => !walked.has(elementId));
  const far = await neighbourhood(tx, second.slice(0, maxSecondHopSeeds), scope);
  ranking.neighbours(far.neighbours);

  const ranked = ranking.all();
  const shown = ranked.slice(0, question.limit);
  const room = createRoom();
  const entities = await room.take(entitiesOf(tx, shown), (record) =>
    toEntityView(record.get('n') as Node, shown[Number(record.get('at'))]?.score ?? 0, consumed),
  );
  const about = shown.slice(0, entities.length).map(({ entity }) => entity);
  const links = ranking.relationships(new Set(about.map(({ elementId }) => elementId)));
  let factsAreCut = false;
  const answered = {
    entities,
    relationships: await room.take(relationshipsOf(tx, links), (record) =>
      toRelationshipView(record.get('r') as Relationship, consumed),
    ),
    facts: await room.take(factsAbout(tx, about, scope), (record) => {
      factsAreCut ||= record.get('isCut') === true;
      return toFactView(record.get('f') as Node, consumed);
    }),
    rows: [],
    limit: question.limit,
  };
  return {
    ...answered,
    truncated: ranked.length > question.limit || isCut || near.isCut || far.isCut || factsAreCut || room.isFull(),
  };
}

/** Adds views until the answer is full. */
function createRoom() {
  let left = maxAnswerLength;
  return {
    async take<T>(records: AsyncIterable<Record>, view: (record: Record) => T): Promise<T[]> {
      const taken: T[] = [];
      for await (const record of records) {
        const made = view(record);
        left -= JSON.stringify(made).length;
        if (left < 0) break;
        taken.push(made);
      }
      return taken;
    },
    isFull: () => left < 0,
  };
}

interface Scope {
  projectIds: string[];
  [timeParameter]: number;
}

/**
 * Finds entities by their own text and by the text of their facts. Words that the index ignores match only the scope
 * term, with score 0.
 */
async function search(
  tx: ManagedTransaction,
  words: readonly string[],
  limit: number,
  scope: Scope,
): Promise<{ hits: Ranked[]; isCut: boolean }> {
  const wanted = Math.min(maxHits, limit * 2 + maxSeeds);
  const lucene = luceneQuery(words, scope.projectIds);
  for (let asked = wanted; ; asked *= hitFactor) {
    const { records } = await tx.run(
      `CALL db.index.fulltext.queryNodes($index, $lucene, {limit: $asked}) YIELD node, score
       WITH node, score, score > 0 AND node.project_id IN $projectIds AND ${heldAt('node')} AS holds
       OPTIONAL MATCH (subject:Entity)-[:HAS_FACT]->(node) WHERE holds AND subject.project_id = node.project_id
       WITH holds, score, coalesce(subject, node) AS entity
       RETURN count(*) AS found, collect(CASE WHEN holds AND entity:Entity THEN {entity: ${keyOf('entity')}, score: score} END) AS hits`,
      { ...scope, index: textIndex, lucene, asked: neo4j.int(asked) },
    );
    const hits = (records[0]?.get('hits') as Ranked[] | undefined) ?? [];
    const found = Number(records[0]?.get('found') ?? 0);
    const isEnough = hits.length === found || new Set(hits.map(({ entity }) => entity.elementId)).size >= limit;
    if (found < asked || isEnough || asked * hitFactor > maxRequested)
      return { hits: hits.slice(0, wanted), isCut: found >= asked || hits.length > wanted };
  }
}

/** Prefers the most recently saved neighbours. */
async function neighbourhood(
  tx: ManagedTransaction,
  from: readonly EntityKey[],
  scope: Scope,
): Promise<{ neighbours: Neighbour[]; isCut: boolean }> {
  if (from.length === 0) return { neighbours: [], isCut: false };
  const { records } = await tx.run(
    `UNWIND $from AS start MATCH (seed:Entity {project_id: start.project, id: start.id})
     CALL (seed) {
       MATCH (seed)-[r]-(other:Entity) WHERE other.project_id IN $projectIds AND r.project_id IN $projectIds
       WITH r, other LIMIT $walked
       RETURN r, other ORDER BY r._recorded_at DESC, r.id LIMIT $each + 1
     }
     WITH elementId(seed) AS of, {elementId: elementId(r), from: elementId(startNode(r)), to: elementId(endNode(r))} AS link, ${keyOf('other')} AS entity
     WITH of, collect({of: of, link: link, entity: entity}) AS neighbours
     RETURN neighbours[..$each] AS neighbours, size(neighbours) > $each AS isCut`,
    { ...scope, from: [...from], each: neo4j.int(maxNeighboursPerEntity), walked: neo4j.int(maxTraversed) },
  );
  return {
    neighbours: records.flatMap((record) => record.get('neighbours') as Neighbour[]),
    isCut: records.some((record) => record.get('isCut') === true),
  };
}

function keyOf(variable: string): string {
  return `{elementId: elementId(${variable}), project: ${variable}.project_id, id: ${variable}.id}`;
}

function entitiesOf(tx: ManagedTransaction, ranked: readonly Ranked[]): Result {
  return tx.run(
    `UNWIND range(0, size($keys) - 1) AS at WITH at, $keys[at] AS key
     MATCH (n:Entity {project_id: key.project, id: key.id}) RETURN n, at ORDER BY at`,
    { keys: ranked.map(({ entity }) => entity) },
  );
}

function relationshipsOf(tx: ManagedTransaction, elementIds: readonly string[]): Result {
  return tx.run('UNWIND $elementIds AS id MATCH ()-[r]->() WHERE elementId(r) = id RETURN r ORDER BY r.id', {
    elementIds: [...elementIds],
  });
}

/** The facts about the entities, in the order of the entities. */
function factsAbout(tx: ManagedTransaction, about: readonly EntityKey[], scope: Scope): Result {
  return tx.run(
    `UNWIND range(0, size($about) - 1) AS at WITH at, $about[at] AS entity
     CALL (entity) {
       MATCH (f:Fact {project_id: entity.project, subject: entity.id}) WHERE ${heldAt('f')}
       WITH f ORDER BY f.confidence DESC, f.predicate, f.id LIMIT $each + 1
       WITH collect(f) AS facts
       UNWIND facts[..$each] AS f RETURN f, size(facts) > $each AS isCut
     }
     RETURN f, isCut ORDER BY at, f.confidence DESC, f.predicate, f.id`,
    { ...scope, about: [...about], each: neo4j.int(maxFactsPerEntity) },
  );
}
