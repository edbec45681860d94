import type { Node, Relationship } from 'neo4j-driver';

export interface Neighbour {
  /** Element id of the node that it was reached from. */
  of: string;
  relationship: Relationship;
  node: Node;
}

export interface Ranked {
  node: Node;
  /** 1 for the best. */
  score: number;
}

/** What a neighbour has of the score of the node that it was reached from. */
const proximity = 0.4;

/**
 * Ranks entities by text score and by how near they are to what the text found. A node's score is the sum of its
 * hits and a share of its best neighbour's; equal scores are ordered by id, so that the same graph gives the same answer.
 */
export function createRanking() {
  const nodes = new Map<string, { node: Node; score: number }>();
  const links = new Map<string, Relationship>();

  function add(node: Node, score: number): void {
    const known = nodes.get(node.elementId);
    nodes.set(node.elementId, { node, score: (known?.score ?? 0) + score });
  }

  function sorted(): { node: Node; score: number }[] {
    return [...nodes.values()].sort((a, b) => b.score - a.score || compare(idOf(a.node), idOf(b.node)));
  }

  return {
    hit: add,
    /** Shares are of the scores before this hop, whatever the order in which neighbours come. */
    neighbours(found: readonly Neighbour[]): void {
      const before = new Map([...nodes].map(([id, { score }]) => [id, score]));
      const reached = new Map<string, { node: Node; share: number }>();
      for (const { of, relationship, node } of found) {
        links.set(relationship.elementId, relationship);
        const share = (before.get(of) ?? 0) * proximity;
        if (share > (reached.get(node.elementId)?.share ?? 0)) reached.set(node.elementId, { node, share });
      }
      for (const { node, share } of reached.values()) add(node, share);
    },
    best: (most: number): Node[] => sorted().slice(0, most).map(({ node }) => node),
    all(): Ranked[] {
      const all = sorted();
      const top = all[0]?.score ?? 1;
      return all.map(({ node, score }) => ({ node, score: Number((score / top).toFixed(6)) }));
    },
    /** Those that were walked between the given nodes. */
    relationships(elementIds: ReadonlySet<string>): Relationship[] {
      const between = [...links.values()].filter((each) => elementIds.has(each.startNodeElementId) && elementIds.has(each.endNodeElementId));
      return between.sort((a, b) => compare(idOf(a), idOf(b)));
    },
  };
}

function idOf({ properties }: { properties: Record<string, unknown> }): string {
  return String(properties.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
