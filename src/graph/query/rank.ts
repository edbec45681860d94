import type { Mentions } from './mentions.js';

/** Identifies an entity without its stored properties, and contains the properties that a question may mention. */
export interface EntityKey extends Mentions {
  elementId: string;
  project: string;
  id: string;
  /** The time of the last save in epoch seconds. */
  savedAt: number;
  /** The number of characters of its searchable text. */
  length: number;
  /** Whether its text is a question. */
  asks: boolean | null;
}

/** A relationship with the element ids of its two entities. */
interface EntityLink {
  elementId: string;
  from: string;
  to: string;
}

export interface Neighbour {
  /** The element id of the entity from which this one was reached. */
  of: string;
  link: EntityLink;
  entity: EntityKey;
}

export interface ScoredEntity {
  entity: EntityKey;
  score: number;
}

/** The parts of a score before it is divided by the best one. The score is their sum. */
interface ScoreParts {
  text: number;
  vector: number;
  /** The points if the question names the entity, most if by its whole name, or a short value of it such as its speaker. */
  names: number;
  /** The points if the question names a time of the entity. */
  time: number;
  /** The share of the score of its best neighbour. */
  neighbours: number;
  /** The points for a longer text, which contains more information. Full text and vectors prefer short texts. */
  length: number;
}

export interface Ranked {
  entity: EntityKey;
  /** From 1 (best) to 0. */
  score: number;
  parts: ScoreParts;
}

/**
 * The weight of the best entity in each part, chosen by measurement (decision 0028). `names` is a share of what was
 * found, and `length` is a share of the maximum of text and vectors.
 */
const weights = { text: 1, vector: 0.6, names: 0.7, time: 0.6, length: 0.3 };

/**
 * The range of text lengths in characters. Texts up to `from` get nothing of `weights.length`, and texts of at least `to`
 * get all of it.
 */
const lengths = { from: 30, to: 250 };

/** An entity whose whole name a question contains. */
export interface NamedEntity {
  entity: EntityKey;
  /** How the name is written in the question: 3 as it is stored, 2 with other case or accents, 1 with other punctuation. */
  exactness: 1 | 2 | 3;
}

/** The points of an entity whose name the question contains, for each step of exactness. All other points together are fewer. */
const pointsOfName = 7;

/** The share of a node's score that its neighbour receives, at the first and at the second hop. */
const proximity = [0.5, 0.5] as const;
/**
 * Limits the points for further hits of an entity to this share of its best hit, so that an entity does not win by its
 * number of facts alone.
 */
const furtherHits = 0.25;
/** The share of its score that a text keeps if it is a question. */
const questionShare = 0.7;

interface Scored {
  entity: EntityKey;
  text: number;
  vector: number;
  /** The shares of its neighbours' scores, by hop. */
  shares: [number, number];
}

/**
 * Ranks entities by the scaled sum of their parts. Ties are resolved by the last save, then by the lower id, so the
 * result is deterministic.
 * @param mentioned returns how far (0 to 1) the question names an entity and its time
 */
export function createRanking(mentioned: (entity: EntityKey) => { names: number; time: number }) {
  const scores = new Map<string, Scored>();
  const links = new Map<string, EntityLink>();
  const mentions = new Map<string, { names: number; time: number }>();
  const exactness = new Map<string, number>();
  /** The maximum that text and vectors contribute together. */
  let most = weights.text;

  function scoredOf(entity: EntityKey): Scored {
    const scored = scores.get(entity.elementId) ?? { entity, text: 0, vector: 0, shares: [0, 0] };
    scores.set(entity.elementId, scored);
    return scored;
  }

  function partsOf({ entity, text, vector, shares }: Scored): ScoreParts {
    const mention = mentions.get(entity.elementId) ?? mentioned(entity);
    mentions.set(entity.elementId, mention);
    const found = {
      text: weights.text * text,
      vector: weights.vector * vector,
      neighbours: shares[0] + shares[1],
      length: weights.length * most * scaledLength(entity.length),
    };
    const name = pointsOfName * (exactness.get(entity.elementId) ?? 0);
    return { ...found, names: name + weights.names * mention.names * sumOf(found), time: weights.time * mention.time };
  }

  function ranked(): Ranked[] {
    return [...scores.values()]
      .map((scored) => {
        const parts = partsOf(scored);
        return { entity: scored.entity, parts, score: sumOf(parts) };
      })
      .sort((a, b) => b.score - a.score || newestFirst(a.entity, b.entity));
  }

  return {
    /** Adds the hits of the full-text search. The best entity gets 1, no match is 0. */
    textHits(found: readonly ScoredEntity[]): void {
      for (const [entity, score] of scaled(bestOfEach(found), 0)) scoredOf(entity).text = score;
    },
    /** Adds the hits of the vector search. The best entity gets 1 and the last gets 0, because similarities lie close together. */
    vectorHits(found: readonly ScoredEntity[]): void {
      if (found.length > 0) most = weights.text + weights.vector;
      const each = bestOfEach(found);
      const least = Math.min(...each.map(([, score]) => score));
      for (const [entity, score] of scaled(each, each.length > 1 ? least : 0)) scoredOf(entity).vector = score;
    },
    /** Puts the entities first whose name the question contains. Their neighbours count like those of the best text. */
    named(found: readonly NamedEntity[]): void {
      for (const { entity, exactness: steps } of found) {
        scoredOf(entity).text = 1;
        exactness.set(entity.elementId, Math.max(steps, exactness.get(entity.elementId) ?? 0));
      }
    },
    /** Gives neighbours a share of the scores so far (hop 0), or of the shares of hop 0 (hop 1), in any order. */
    neighbours(found: readonly Neighbour[], hop: 0 | 1): void {
      const before = new Map(
        [...scores].map(([id, { text, vector, shares }]) => [
          id,
          hop === 0 ? weights.text * text + weights.vector * vector : shares[0],
        ]),
      );
      for (const { of, link, entity } of found) {
        links.set(link.elementId, link);
        const { shares } = scoredOf(entity);
        shares[hop] = Math.max(shares[hop], (before.get(of) ?? 0) * proximity[hop]);
      }
    },
    best: (count: number): EntityKey[] =>
      ranked()
        .slice(0, count)
        .map(({ entity }) => entity),
    all(): Ranked[] {
      return relativeToBest(ranked());
    },
    /** Returns the element ids of the traversed relationships between the given entities. */
    relationships: (elementIds: ReadonlySet<string>): string[] =>
      [...links.values()]
        .filter(({ from, to }) => elementIds.has(from) && elementIds.has(to))
        .map(({ elementId }) => elementId),
  };
}

export type Ranking = ReturnType<typeof createRanking>;

/**
 * Returns the final order, in which a text that is a question counts less than its answer. Until then it counts fully,
 * because it leads to its neighbours, which often answer it.
 */
export function answersFirst(ranked: readonly Ranked[]): Ranked[] {
  const reduced = ({ entity, score, parts }: Ranked): Ranked => ({
    entity,
    score: score * questionShare,
    parts: mapParts(parts, (part) => part * questionShare),
  });
  return relativeToBest(
    ranked.map((each) => (each.entity.asks ? reduced(each) : each)).sort((a, b) => b.score - a.score),
  );
}

/** Divides the scores by the first one. */
export function relativeToBest(sorted: readonly Ranked[]): Ranked[] {
  const top = sorted[0]?.score || 1;
  return sorted.map((each) => ({ ...each, score: Number((each.score / top).toFixed(6)) }));
}

export function mapParts(
  { text, vector, names, time, neighbours, length }: ScoreParts,
  change: (part: number) => number,
): ScoreParts {
  return {
    text: change(text),
    vector: change(vector),
    names: change(names),
    time: change(time),
    neighbours: change(neighbours),
    length: change(length),
  };
}

/** Returns the score of each entity: its best hit and a small bonus for further hits. */
function bestOfEach(found: readonly ScoredEntity[]): [EntityKey, number][] {
  const sums = new Map<string, { entity: EntityKey; best: number; further: number }>();
  for (const { entity, score } of found) {
    const sum = sums.get(entity.elementId) ?? { entity, best: 0, further: 0 };
    sum.further += Math.min(sum.best, score);
    sum.best = Math.max(sum.best, score);
    sums.set(entity.elementId, sum);
  }
  return [...sums.values()].map(({ entity, best, further }) => [entity, best + furtherHits * Math.min(best, further)]);
}

function scaled(found: readonly [EntityKey, number][], least: number): [EntityKey, number][] {
  const range = Math.max(...found.map(([, score]) => score)) - least;
  return found.map(([entity, score]) => [entity, range > 0 ? (score - least) / range : 0]);
}

/** Returns 0 to 1 on a logarithmic scale: ten more characters matter less in a long text. */
function scaledLength(length: number): number {
  const bounded = Math.min(Math.max(length, lengths.from), lengths.to);
  return Math.log(bounded / lengths.from) / Math.log(lengths.to / lengths.from);
}

function sumOf(parts: Partial<ScoreParts>): number {
  return Object.values(parts).reduce((sum, part) => sum + part, 0);
}

function newestFirst(a: EntityKey, b: EntityKey): number {
  return b.savedAt - a.savedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
