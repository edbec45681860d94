/** Identifies an entity without its stored properties. */
export interface EntityKey {
  elementId: string;
  project: string;
  id: string;
}

/** A relationship with the element ids of its two entities. */
export interface Link {
  elementId: string;
  from: string;
  to: string;
}

export interface Neighbour {
  /** The element id of the entity from which it was reached. */
  of: string;
  link: Link;
  entity: EntityKey;
}

export interface Ranked {
  entity: EntityKey;
  /** From 1 (best) to 0. */
  score: number;
}

/** The share of a node's score that its neighbour receives. */
const proximity = 0.4;

/** Limits further hits of an entity to this share of its best hit, so that many facts alone do not win. */
const furtherHits = 0.25;

interface Scored {
  entity: EntityKey;
  best: number;
  further: number;
  share: number;
}

/**
 * Ranks entities by text score and by distance from text matches. A score is the best hit, a small bonus for further
 * hits, and a share of the best neighbour's score. Ties are sorted by id, so the result is deterministic.
 */
export function createRanking() {
  const scores = new Map<string, Scored>();
  const links = new Map<string, Link>();

  function scoredOf(entity: EntityKey): Scored {
    const scored = scores.get(entity.elementId) ?? { entity, best: 0, further: 0, share: 0 };
    scores.set(entity.elementId, scored);
    return scored;
  }

  function hit(entity: EntityKey, score: number): void {
    const scored = scoredOf(entity);
    scored.further += Math.min(scored.best, score);
    scored.best = Math.max(scored.best, score);
  }

  function sorted(): Ranked[] {
    return [...scores.values()].map(ranked).sort((a, b) => b.score - a.score || compare(a.entity.id, b.entity.id));
  }

  return {
    hit,
    /** Shares use the scores before this hop, so the order of neighbours does not matter. */
    neighbours(found: readonly Neighbour[]): void {
      const before = new Map([...scores].map(([id, scored]) => [id, ranked(scored).score]));
      const reached = new Map<string, { entity: EntityKey; share: number }>();
      for (const { of, link, entity } of found) {
        links.set(link.elementId, link);
        const share = (before.get(of) ?? 0) * proximity;
        if (share > (reached.get(entity.elementId)?.share ?? 0)) reached.set(entity.elementId, { entity, share });
      }
      for (const { entity, share } of reached.values()) scoredOf(entity).share += share;
    },
    best: (count: number): EntityKey[] =>
      sorted()
        .slice(0, count)
        .map(({ entity }) => entity),
    all(): Ranked[] {
      const all = sorted();
      const top = all[0]?.score ?? 1;
      return all.map(({ entity, score }) => ({ entity, score: Number((score / top).toFixed(6)) }));
    },
    /** The element ids of the traversed relationships between the given entities. */
    relationships: (elementIds: ReadonlySet<string>): string[] =>
      [...links.values()]
        .filter(({ from, to }) => elementIds.has(from) && elementIds.has(to))
        .map(({ elementId }) => elementId),
  };
}

function ranked({ entity, best, further, share }: Scored): Ranked {
  return { entity, score: best + furtherHits * Math.min(best, further) + share };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
