import path from 'node:path';
import { packageRoot } from './package-root.js';

/** The entry of all workflows; the modules that intercept them; and the bundle that the build makes of both. */
export const workflowsEntry = path.join(packageRoot, 'dist/workflows/index.js');
/** Ours: Temporal's own module would change how runs that began without it replay (decision 0042). */
export const workflowInterceptorModules = [path.join(packageRoot, 'dist/workflows/tracing/interceptors.js')];
export const workflowBundle = { codePath: path.join(packageRoot, 'dist/workflow-bundle.js') };
