import { lazy, Suspense } from 'react';
import type { GraphOptions } from './graph.js';

const Graph = lazy(() => import('./graph.js').then(({ Graph: component }) => ({ default: component })));

/** Loads the graph library when the first graph is rendered. */
export function LazyGraph(props: GraphOptions) {
  return (
    <Suspense fallback={<div className="graph" />}>
      <Graph {...props} />
    </Suspense>
  );
}
