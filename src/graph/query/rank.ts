/** An entity without what is stored of it. */
export interface EntityKey {
  elementId: string;
  project: string;
  id: string;
}

/** A relationship with the element ids of its ends. */
export interface Link {
  elementId: string;
  from: string;
  to: string;
}

export interface Neighbour {
  /** Element id of the entity that it was reached from. */
  of: string;
  link: Link;
  entity: EntityKey;
}

export interface Ranked {
  entity: EntityKey;
  /** 1 for the best. */
  score: number;
}

/** What a neighbour has of the score of the node that it was reached from. */
const proximity = 0.4;

/**
 * Ranks entities by text score and by how near they are to what the text found. An entity's score is the sum of its
 * hits and a share of its best neighbour's; equal scores are ordered by id, so that the same graph gives the same answer.
 */
export function createRanking() {
  const scores = new Map<string, Ranked>();
  const links = new Map<string, Link>();

  function add(entity: EntityKey, score: number): void {
    scores.set(entity.elementId, { entity, score: (scores.get(entity.elementId)?.score ?? 0) + score });
  }

  function sorted(): Ranked[] {
    return [...scores.values()].sort((a, b) => b.score - a.score || compare(a.entity.id, b.entity.id));
  }

  return {
    hit: add,
    /** Shares are of the scores before this hop, whatever the order in which neighbours come. */
    neighbours(found: readonly Neighbour[]): void {
      const before = new Map([...scores].map(([id, { score }]) => [id, score]));
      const reached = new Map<string, { entity: EntityKey; share: number }>();
      for (const { of, link, entity } of found) {
        links.set(link.elementId, link);
        const share = (before.get(of) ?? 0) * proximity;
        if (share > (reached.get(entity.elementId)?.share ?? 0)) reached.set(entity.elementId, { entity, share });
      }
      for (const { entity, share } of reached.values()) add(entity, share);
    },
    best: (most: number): EntityKey[] => sorted().slice(0, most).map(({ entity }) => entity),
    all(): Ranked[] {
      const all = sorted();
      const top = all[0]?.score ?? 1;
      return all.map(({ entity, score }) => ({ entity, score: Number((score / top).toFixed(6)) }));
    },
    /** Element ids of those that were walked between the given entities. */
    relationships: (elementIds: ReadonlySet<string>): string[] =>
      [...links.values()].filter(({ from, to }) => elementIds.has(from) && elementIds.has(to)).map(({ elementId }) => elementId),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
