import { lazy, Suspense } from 'react';
import type { GraphOptions } from './graph.js';
import styles from './graph.module.css';

const Graph = lazy(() => import('./graph.js').then(({ Graph: component }) => ({ default: component })));

/** Loads the graph library when the first graph is rendered. */
export function LazyGraph(props: GraphOptions) {
  return (
    <Suspense fallback={<div className={styles.graph} />}>
      <Graph {...props} />
    </Suspense>
  );
}
