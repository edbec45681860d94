import path from 'node:path';
import { packageRoot } from './base/packages.js';

export const workflowsEntry = path.join(packageRoot, 'dist/workflows/index.js');
/**
 * The product's own interceptors. Temporal's module would break the replay of runs that started without it (decision
 * 0006).
 */
export const workflowInterceptorModules = ['trust', 'tracing', 'queues'].map((name) =>
  path.join(packageRoot, `dist/workflows/${name}/interceptors.js`),
);
export const workflowBundle = { codePath: path.join(packageRoot, 'dist/workflow-bundle.js') };
