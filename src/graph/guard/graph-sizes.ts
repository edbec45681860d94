/** Upper bounds for what a query can read from the graph. */
export interface GraphSizes {
  nodes: number;
  /** The number of ends of relationships: two for each relationship. */
  ends: number;
  /** The maximum number of relationships of a node. */
  degree: number;
  /** The weight of the largest property that is not internal: its characters, or the characters and elements of a list. */
  property: number;
  /** The weight of all properties of the largest node or relationship, including the internal ones. */
  element: number;
}

/** What the limits on stored data allow, which the writers enforce (`save/input.ts`). */
export const largestGraph: GraphSizes = {
  nodes: 1_000_000,
  ends: 1_000_000,
  degree: 1_000_000,
  property: 32_768,
  element: 1_100_000,
};

/** A query that is too expensive for this graph is too expensive for every graph. */
export const smallestGraph: GraphSizes = { nodes: 1, ends: 1, degree: 1, property: 1, element: 1 };
