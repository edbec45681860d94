import neo4j, { type ManagedTransaction, type Node, type Record, type Relationship, type Result } from 'neo4j-driver';
import type { Consumption } from '../store/provenance.js';
import { textIndex } from '../store/schema.js';
import { fetchSize, inReadTransaction, type Connection } from '../store/sessions.js';
import { held, timeParameter } from './as-of.js';
import { createRanking, type EntityKey, type Neighbour, type Ranked } from './rank.js';
import { answerCharacters, entityView, factView, relationshipView, type ContextAnswer } from './views.js';
import { luceneQuery, wordsOf } from './words.js';

export interface Question {
  text: string;
  /** The caller's project, or those granted to them. */
  projectIds: readonly string[];
  asOf: number;
  limit: number;
  timeoutMs: number;
}

const mostHits = 200;
const seeds = 25;
const seedsOfSecondHop = 10;
const neighboursOfOne = 20;
const factsOfOne = 20;

/**
 * Full text, then the neighbourhood of what it found, up to two hops, ranked. What is looked at is bounded by the limit
 * and not by the size of the graph; what is stored of the elements is read for the answer alone, and no more than it holds.
 */
export function retrieve(graph: Connection, question: Question, consumed: Consumption): Promise<ContextAnswer> {
  const words = wordsOf(question.text);
  const { limit, timeoutMs } = question;
  if (words.length === 0) return Promise.resolve({ entities: [], relationships: [], facts: [], rows: [], limit, truncated: false });
  return inReadTransaction(graph, (tx) => answer(tx, words, question, consumed), { timeoutMs, fetchSize });
}

async function answer(tx: ManagedTransaction, words: readonly string[], question: Question, consumed: Consumption): Promise<ContextAnswer> {
  const scope = { projectIds: [...question.projectIds], [timeParameter]: question.asOf };
  const ranking = createRanking();
  for (const { entity, score } of await search(tx, words, question.limit, scope)) ranking.hit(entity, score);
  const first = ranking.best(seeds);
  ranking.neighbours(await neighbourhood(tx, first, scope));
  const walked = new Set(first.map(({ elementId }) => elementId));
  const second = ranking.best(first.length + seedsOfSecondHop).filter(({ elementId }) => !walked.has(elementId));
  ranking.neighbours(await neighbourhood(tx, second.slice(0, seedsOfSecondHop), scope));

  const ranked = ranking.all();
  const shown = ranked.slice(0, question.limit);
  const room = createRoom();
  const entities = await room.take(entitiesOf(tx, shown), (record) => entityView(record.get('n') as Node, shown[Number(record.get('at'))]?.score ?? 0, consumed));
  const about = shown.slice(0, entities.length).map(({ entity }) => entity);
  const links = ranking.relationships(new Set(about.map(({ elementId }) => elementId)));
  return {
    entities,
    relationships: await room.take(relationshipsOf(tx, links), (record) => relationshipView(record.get('r') as Relationship, consumed)),
    facts: await room.take(factsAbout(tx, about, scope), (record) => factView(record.get('f') as Node, consumed)),
    rows: [],
    limit: question.limit,
    truncated: ranked.length > question.limit || room.isFull(),
  };
}

/** Takes views for as long as the answer holds them. */
function createRoom() {
  let left = answerCharacters;
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

/** Entities by their own text, and by the text of a fact about them. Of words that the index leaves out the scope alone is met, by no score. */
async function search(tx: ManagedTransaction, words: readonly string[], limit: number, scope: Scope): Promise<Ranked[]> {
  const { records } = await tx.run(
    `CALL db.index.fulltext.queryNodes($index, $lucene, {limit: $most}) YIELD node, score
     WHERE score > 0 AND node.project_id IN $projectIds AND ${held('node')}
     OPTIONAL MATCH (subject:Entity)-[:HAS_FACT]->(node) WHERE subject.project_id = node.project_id
     WITH coalesce(subject, node) AS entity, score WHERE entity:Entity
     RETURN collect({entity: ${keyOf('entity')}, score: score}) AS hits`,
    { ...scope, index: textIndex, lucene: luceneQuery(words, scope.projectIds), most: neo4j.int(Math.min(mostHits, limit * 2 + seeds)) },
  );
  return records.flatMap((record) => record.get('hits') as Ranked[]);
}

async function neighbourhood(tx: ManagedTransaction, from: readonly EntityKey[], scope: Scope): Promise<Neighbour[]> {
  if (from.length === 0) return [];
  const { records } = await tx.run(
    `UNWIND $from AS start MATCH (seed:Entity {project_id: start.project, id: start.id})
     CALL (seed) {
       MATCH (seed)-[r]-(other:Entity) WHERE other.project_id IN $projectIds AND r.project_id IN $projectIds
       RETURN r, other LIMIT $each
     }
     WITH elementId(seed) AS of, {elementId: elementId(r), from: elementId(startNode(r)), to: elementId(endNode(r))} AS link, ${keyOf('other')} AS entity
     RETURN of, collect({of: of, link: link, entity: entity}) AS neighbours`,
    { ...scope, from: [...from], each: neo4j.int(neighboursOfOne) },
  );
  return records.flatMap((record) => record.get('neighbours') as Neighbour[]);
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
  return tx.run('UNWIND $elementIds AS id MATCH ()-[r]->() WHERE elementId(r) = id RETURN r ORDER BY r.id', { elementIds: [...elementIds] });
}

/** What is held of the entities, in their order. */
function factsAbout(tx: ManagedTransaction, about: readonly EntityKey[], scope: Scope): Result {
  return tx.run(
    `UNWIND range(0, size($about) - 1) AS at WITH at, $about[at] AS entity
     CALL (entity) {
       MATCH (f:Fact {project_id: entity.project, subject: entity.id}) WHERE ${held('f')}
       RETURN f ORDER BY f.confidence DESC, f.predicate, f.id LIMIT $each
     }
     RETURN f ORDER BY at, f.confidence DESC, f.predicate, f.id`,
    { ...scope, about: [...about], each: neo4j.int(factsOfOne) },
  );
}
