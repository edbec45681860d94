import { lazy, Suspense } from 'react';
import type { GraphOptions } from './graph.js';

const Graph = lazy(() => import('./graph.js').then(({ Graph: component }) => ({ default: component })));

/** A graph whose library is loaded when it is first shown. */
export function LazyGraph(given: GraphOptions) {
  return (
    <Suspense fallback={<div className="graph" />}>
      <Graph {...given} />
    </Suspense>
  );
}
