import { writeFile } from 'node:fs/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { failureConverterPath } from '../temporal/data-converter.js';
import { workflowBundle, workflowInterceptorModules, workflowsEntry } from '../workflow-code.js';

/** Part of the build. Workers load this bundle instead of creating their own at start. */
const { code } = await bundleWorkflowCode({
  workflowsPath: workflowsEntry,
  workflowInterceptorModules,
  failureConverterPath,
  // Without this, each run evaluates all modules of all workflows. Lint ensures that a module keeps no state.
  preloadModules: ['@temporalio/workflow', failureConverterPath, ...workflowInterceptorModules, workflowsEntry],
  // Each worker process would hold the sources' text several times.
  webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  logger: new DefaultLogger('WARN'),
});
await writeFile(workflowBundle.codePath, code);
