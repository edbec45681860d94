import type { GraphSizes } from './graph-sizes.js';
import type { Size } from './sizes.js';
import type { Tree } from './tree.js';

/** Upper bounds for the value of an expression and for the work that it takes. */
export interface Weighed {
  size: Size;
  /** The number of elementary steps of about 40 ns each. */
  steps: number;
}

export type Variables = ReadonlyMap<string, Size>;

/** What the value of a function may depend on, apart from its arguments. */
export interface Surroundings {
  graph: GraphSizes;
  /** The maximum number of rows from which an aggregation collects. */
  rows: number;
}

/** What the weight of an expression depends on. */
export interface Weighing extends Surroundings {
  variables: Variables;
  parameter(name: string): Size;
  /** Weighs a subquery. `size` is that of its first column. */
  subquery(query: Tree, variables: Variables): Weighed & { rows: number };
  /** Adds the variables of a pattern and returns the steps of its conditions. */
  pattern(tree: Tree, variables: Map<string, Size>): number;
}
