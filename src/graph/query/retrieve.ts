import neo4j, { type ManagedTransaction, type Node, type Record, type Relationship, type Result } from 'neo4j-driver';
import type { Consumption } from '../store/provenance.js';
import { fetchSize, inReadTransaction, type Connection } from '../store/sessions.js';
import { epochSeconds } from '../../base/time.js';
import type { NearestByText } from '../vectors/nearest.js';
import { validAtTimeOrInPeriods, timeParameter, validInPeriods, type Moment } from './as-of.js';
import { datesIn } from './dates.js';
import { feedbackTerms } from './feedback.js';
import { mentionsIn, withoutCommonNames } from './mentions.js';
import { readNeighbours } from './neighbourhood.js';
import {
  answersFirst,
  createRanking,
  mapParts,
  type EntityKey,
  type NamedEntity,
  type ScoredEntity,
  type Ranked,
  type Ranking,
} from './rank.js';
import { rerank, type Reranked, type Reranker } from './rerank.js';
import { readNamed } from './titles.js';
import { readPlaces, searchText, type IndexedProjects, type Scope, type TextHits } from './search.js';
import { nearestTo, vectorHits, type VectorAnswer } from './vector-hits.js';
import {
  maxAnswerLength,
  toEntityView,
  toFactView,
  toRelationshipView,
  type ContextAnswer,
  type Explanation,
} from './views.js';
import { wordsOf, type Term } from './words.js';

interface Question {
  text: string;
  /** The project of the caller, or the projects that the caller is granted. */
  projectIds: readonly string[];
  /** The organization of the caller. */
  organizationId: string;
  /**
   * A point in time in epoch seconds. Without it, the search uses the current time and the times that the question
   * names.
   */
  asOf: number | undefined;
  limit: number;
  timeoutMs: number;
  bookmark?: string | undefined;
  /** Whether the response explains each score. */
  explain?: boolean;
  signal?: AbortSignal;
}

export interface RetrieveOptions {
  /** Searches by vectors. Without it, the search uses text alone. */
  nearest?: NearestByText | undefined;
  /** Sorts the best entities again. Without it, their order does not change. */
  reranker?: Reranker | undefined;
}

const withoutWords = 'the question has no words';
const maxSeeds = 25;
const maxFactsPerEntity = 20;

/**
 * Searches full text, then up to two hops around the matches, and ranks the result. The limit bounds the work, whatever
 * the size of the graph. Reads stored properties only for the response.
 */
export async function retrieve(
  graph: Connection,
  question: Question,
  consumed: Consumption,
  { nearest, reranker }: RetrieveOptions = {},
): Promise<ContextAnswer> {
  const words = wordsOf(question.text);
  const moment = momentOf(question);
  const scope = { projectIds: [...question.projectIds], ...moment };
  let msLeft = question.timeoutMs;
  const read = async <T>(work: (tx: ManagedTransaction) => Promise<T>): Promise<T> => {
    const begun = performance.now();
    const { projectIds, organizationId, bookmark, signal } = question;
    const options = { timeoutMs: Math.max(1, Math.ceil(msLeft)), fetchSize, projectIds, organizationId, bookmark };
    const result = await inReadTransaction(graph, work, { ...options, ...(signal && { signal }) });
    msLeft -= performance.now() - begun;
    return result;
  };
  const searchWords = (tx: ManagedTransaction) => searchQuestion(tx, question.text, words, scope);
  // The text hits determine what is embedded, so they come first. No transaction waits for an endpoint.
  const found = nearest && (await read(searchWords));
  const text = found ? withoutCommonNames(question.text, entitiesIn(found)) : question.text;
  const vectors =
    words.length > 0
      ? await nearestTo(nearest, { ...question, text, moment }, question.signal)
      : { hits: [], generations: [], unavailable: withoutWords };
  const search = async (tx: ManagedTransaction): Promise<Found> => {
    const text = found ?? (await searchWords(tx));
    return find(tx, question.text, { words, text, vectors: await vectorHits(tx, vectors.hits, scope) }, scope);
  };
  const bySearch = ({ ranking }: Found) => answersFirst(ranking.all());
  const answerTo = (searched: Found, reranked: Reranked) => (tx: ManagedTransaction) =>
    answer(tx, { ...searched, vectors, reranked, scope }, question, consumed);
  if (!reranker || words.length === 0)
    return read(async (tx) => {
      const searched = await search(tx);
      const unavailable = words.length === 0 ? withoutWords : 'no reranking endpoint is configured';
      const reranked = { ranked: bySearch(searched), unavailable };
      return answerTo(searched, reranked)(tx);
    });
  const searched = await read(search);
  return read(answerTo(searched, await rerank(read, reranker, bySearch(searched), question)));
}

interface QuestionHits extends TextHits {
  places: readonly IndexedProjects[];
  /** The entities whose name the question contains. */
  named: readonly NamedEntity[];
}

async function searchQuestion(
  tx: ManagedTransaction,
  text: string,
  words: readonly string[],
  scope: Scope,
): Promise<QuestionHits> {
  const places = await readPlaces(tx, scope.projectIds);
  const named = await readNamed(tx, text, scope);
  if (words.length === 0) return { places, named, hits: [], isCut: false };
  return { places, named, ...(await searchText(tx, { text, terms: words.map(asked), places }, scope)) };
}

function asked(word: string): Term {
  return { word, weight: 1 };
}

function entitiesIn({ hits }: TextHits): ReadonlyMap<string, EntityKey> {
  return new Map(hits.map(({ entity }) => [entity.elementId, entity]));
}

function momentOf({ text, asOf }: Question): Moment {
  if (asOf !== undefined) return { [timeParameter]: asOf, periods: [] };
  return { [timeParameter]: epochSeconds(), periods: datesIn(text) };
}

interface Found {
  ranking: Ranking;
  isCut: boolean;
}

interface Ordered extends Found {
  vectors: VectorAnswer;
  reranked: Reranked;
  scope: Scope;
}

async function answer(
  tx: ManagedTransaction,
  { ranking, isCut, vectors, reranked, scope }: Ordered,
  question: Question,
  consumed: Consumption,
): Promise<ContextAnswer> {
  const { ranked } = reranked;
  const returned = ranked.slice(0, question.limit);
  const limited = createLimitedAnswer();
  const entities = await limited.take(entitiesOf(tx, returned), (record) =>
    toEntityView(record.get('n') as Node, returned[Number(record.get('at'))]?.score ?? 0, consumed),
  );
  const about = returned.slice(0, entities.length).map(({ entity }) => entity);
  const links = ranking.relationships(new Set(about.map(({ elementId }) => elementId)));
  let factsAreCut = false;
  const answered = {
    entities,
    relationships: await limited.take(relationshipsOf(tx, links), (record) =>
      toRelationshipView(record.get('r') as Relationship, consumed),
    ),
    facts: await limited.take(factsAbout(tx, about, scope), (record) => {
      factsAreCut ||= record.get('isCut') === true;
      return toFactView(record.get('f') as Node, consumed, record.get('objectName') as string | null);
    }),
    rows: [],
    limit: question.limit,
  };
  return {
    ...answered,
    truncated: ranked.length > question.limit || isCut || factsAreCut || limited.isFull(),
    ...(question.explain && { explanation: explanationOf(returned.slice(0, entities.length), vectors, reranked) }),
  };
}

function explanationOf(returned: readonly Ranked[], vectors: VectorAnswer, reranked: Reranked): Explanation {
  const { generations, unavailable } = vectors;
  return {
    vectors: { used: generations.length > 0, generations, reason: unavailable ?? null },
    reranking:
      'model' in reranked
        ? { used: true, model: reranked.model, reason: null }
        : { used: false, model: null, reason: reranked.unavailable },
    scores: returned.map(({ entity: { id, project }, parts }) => ({
      id,
      project_id: project,
      ...mapParts(parts, rounded),
    })),
  };
}

function rounded(part: number): number {
  return Number(part.toFixed(6));
}

/** Takes views until the answer has its maximum length. */
function createLimitedAnswer() {
  let left = maxAnswerLength;
  return {
    async take<T>(records: AsyncIterable<Record>, view: (record: Record) => T): Promise<T[]> {
      const views: T[] = [];
      for await (const record of records) {
        const made = view(record);
        left -= JSON.stringify(made).length;
        if (left < 0) break;
        views.push(made);
      }
      return views;
    },
    isFull: () => left < 0,
  };
}

interface Hits {
  words: readonly string[];
  text: QuestionHits;
  vectors: readonly ScoredEntity[];
}

/** Ranks the hits of the question, then searches again with the words that the best ones share. */
async function find(
  tx: ManagedTransaction,
  question: string,
  { words, text, vectors }: Hits,
  scope: Scope,
): Promise<Found> {
  const mentioned = mentionsIn(question);
  const rank = async ({ hits, isCut }: TextHits): Promise<Found> => {
    const ranking = createRanking(mentioned);
    ranking.textHits(hits);
    ranking.vectorHits(vectors);
    ranking.named(text.named);
    const around = await addNeighbours(tx, ranking, scope);
    return { ranking, isCut: isCut || around.isCut };
  };
  const first = await rank(text);
  const more = await feedbackTerms(tx, first.ranking.all(), words);
  if (more.length === 0) return first;
  const terms = [...words.map(asked), ...more];
  return rank(await searchText(tx, { text: question, terms, places: text.places }, scope));
}

/** Adds the neighbours of the best hits, up to two hops away. */
async function addNeighbours(tx: ManagedTransaction, ranking: Ranking, scope: Scope): Promise<{ isCut: boolean }> {
  const relevance = new Map(ranking.all().map(({ entity, score }) => [entity.elementId, score]));
  let isCut = false;
  for (const hop of [0, 1] as const) {
    const near = await readNeighbours(tx, ranking.best(maxSeeds), relevance, scope);
    ranking.neighbours(near.neighbours, hop);
    isCut ||= near.isCut;
  }
  return { isCut };
}

function entitiesOf(tx: ManagedTransaction, ranked: readonly Ranked[]): Result {
  return tx.run(
    `UNWIND range(0, size($keys) - 1) AS at WITH at, $keys[at] AS key
     MATCH (n:Entity {project_id: key.project, id: key.id}) RETURN n, at ORDER BY at`,
    { keys: ranked.map(({ entity: { project, id } }) => ({ project, id })) },
  );
}

function relationshipsOf(tx: ManagedTransaction, elementIds: readonly string[]): Result {
  return tx.run('UNWIND $elementIds AS id MATCH ()-[r]->() WHERE elementId(r) = id RETURN r ORDER BY r.id', {
    elementIds: [...elementIds],
  });
}

/** Returns the facts about the entities in their order. Facts of a time that the question names come first. */
function factsAbout(tx: ManagedTransaction, about: readonly EntityKey[], scope: Scope): Result {
  return tx.run(
    `UNWIND range(0, size($about) - 1) AS at WITH at, $about[at] AS entity
     CALL (entity) {
       MATCH (f:Fact {project_id: entity.project, subject: entity.id}) WHERE ${validAtTimeOrInPeriods('f')}
       WITH f, ${validInPeriods('f')} AS isOfPeriod ORDER BY isOfPeriod DESC, f.confidence DESC, f.predicate, f.id LIMIT $each + 1
       WITH collect({f: f, isOfPeriod: isOfPeriod}) AS facts
       UNWIND facts[..$each] AS one RETURN one.f AS f, one.isOfPeriod AS isOfPeriod, size(facts) > $each AS isCut
     }
     RETURN f, isCut, [(f)-[:FACT_OBJECT]->(o:Entity {project_id: f.project_id}) | o.name][0] AS objectName
     ORDER BY at, isOfPeriod DESC, f.confidence DESC, f.predicate, f.id`,
    { ...scope, about: about.map(({ project, id }) => ({ project, id })), each: neo4j.int(maxFactsPerEntity) },
  );
}
