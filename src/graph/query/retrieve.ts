import neo4j, { type ManagedTransaction, type Node, type Relationship } from 'neo4j-driver';
import type { Consumption } from '../store/provenance.js';
import { textIndex } from '../store/schema.js';
import { inReadTransaction, type Connection } from '../store/sessions.js';
import { held, timeParameter } from './as-of.js';
import { createRanking, type Neighbour } from './rank.js';
import { entityView, factView, isEntity, relationshipView, type ContextAnswer } from './views.js';
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
 * Full text, then the neighbourhood of what it found, up to two hops, ranked. What is looked at is bounded by
 * the limit and not by the size of the graph.
 */
export function retrieve(graph: Connection, question: Question, consumed: Consumption): Promise<ContextAnswer> {
  const words = wordsOf(question.text);
  const { limit, timeoutMs } = question;
  if (words.length === 0) return Promise.resolve({ entities: [], relationships: [], facts: [], rows: [], limit, truncated: false });
  return inReadTransaction(graph, (tx) => answer(tx, words, question, consumed), timeoutMs);
}

async function answer(tx: ManagedTransaction, words: readonly string[], question: Question, consumed: Consumption): Promise<ContextAnswer> {
  const scope = { projectIds: [...question.projectIds], [timeParameter]: question.asOf };
  const ranking = createRanking();
  for (const hit of await search(tx, words, question.limit, scope)) ranking.hit(hit.node, hit.score);
  const first = ranking.best(seeds);
  ranking.neighbours(await neighbourhood(tx, first, scope));
  const walked = new Set(first.map(({ elementId }) => elementId));
  const second = ranking.best(first.length + seedsOfSecondHop).filter(({ elementId }) => !walked.has(elementId));
  ranking.neighbours(await neighbourhood(tx, second.slice(0, seedsOfSecondHop), scope));

  const ranked = ranking.all();
  const shown = ranked.slice(0, question.limit);
  const ids = new Set(shown.map(({ node }) => node.elementId));
  const facts = await factsAbout(tx, shown.map(({ node }) => node), scope);
  return {
    entities: shown.map(({ node, score }) => entityView(node, score, consumed)),
    relationships: ranking.relationships(ids).map((each) => relationshipView(each, consumed)),
    facts: facts.map((node) => factView(node, consumed)),
    rows: [],
    limit: question.limit,
    truncated: ranked.length > question.limit,
  };
}

interface Scope extends Record<string, unknown> {
  projectIds: string[];
}

interface Hit {
  node: Node;
  score: number;
}

/** Entities by their own text, and by the text of a fact about them. */
async function search(tx: ManagedTransaction, words: readonly string[], limit: number, scope: Scope): Promise<Hit[]> {
  const { records } = await tx.run(
    `CALL db.index.fulltext.queryNodes($index, $lucene, {limit: $most}) YIELD node, score
     WHERE node.project_id IN $projectIds AND ${held('node')}
     OPTIONAL MATCH (subject:Entity)-[:HAS_FACT]->(node) WHERE subject.project_id = node.project_id
     RETURN coalesce(subject, node) AS node, score`,
    { ...scope, index: textIndex, lucene: luceneQuery(words, scope.projectIds), most: neo4j.int(Math.min(mostHits, limit * 2 + seeds)) },
  );
  return records
    .map((record) => ({ node: record.get('node') as Node, score: record.get('score') as number }))
    .filter(({ node }) => isEntity(node));
}

async function neighbourhood(tx: ManagedTransaction, from: readonly Node[], scope: Scope): Promise<Neighbour[]> {
  if (from.length === 0) return [];
  const { records } = await tx.run(
    `UNWIND $from AS start MATCH (seed:Entity {project_id: start.project, id: start.id})
     CALL (seed) {
       MATCH (seed)-[r]-(other:Entity) WHERE other.project_id IN $projectIds AND r.project_id IN $projectIds
       RETURN r, other LIMIT $each
     }
     RETURN elementId(seed) AS seed, r, other`,
    { ...scope, from: from.map(({ properties: { id, project_id: project } }) => ({ id: id as string, project: project as string })), each: neo4j.int(neighboursOfOne) },
  );
  return records.map((record) => ({
    of: record.get('seed') as string,
    relationship: record.get('r') as Relationship,
    node: record.get('other') as Node,
  }));
}

/** What is held of the entities, in their order. */
async function factsAbout(tx: ManagedTransaction, nodes: readonly Node[], scope: Scope): Promise<Node[]> {
  const { records } = await tx.run(
    `UNWIND range(0, size($about) - 1) AS at WITH at, $about[at] AS entity
     CALL (entity) {
       MATCH (f:Fact {project_id: entity.project, subject: entity.id}) WHERE ${held('f')}
       RETURN f ORDER BY f.confidence DESC, f.predicate, f.id LIMIT $each
     }
     RETURN f ORDER BY at, f.confidence DESC, f.predicate, f.id`,
    { ...scope, about: nodes.map(({ properties: { id, project_id: project } }) => ({ id: id as string, project: project as string })), each: neo4j.int(factsOfOne) },
  );
  return records.map((record) => record.get('f') as Node);
}
