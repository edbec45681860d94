/** The entry of all workflows, and the bundle that the build makes of it; below the package's root. */
export const workflowsEntry = 'dist/workflows/index.js';
export const workflowBundle = 'dist/workflow-bundle.js';
