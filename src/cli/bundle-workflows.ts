import { writeFile } from 'node:fs/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { failureConverterPath, payloadConverterPath } from '../temporal/data-converter.js';
import { workflowBundle, workflowInterceptorModules, workflowsEntry } from '../workflow-code.js';

/** Part of the build. Workers load this bundle instead of creating their own one at start. */
const { code } = await bundleWorkflowCode({
  workflowsPath: workflowsEntry,
  workflowInterceptorModules,
  failureConverterPath,
  payloadConverterPath,
  // Without this, each run evaluates all modules of all workflows. Lint ensures that no module keeps state.
  preloadModules: [
    '@temporalio/workflow',
    failureConverterPath,
    payloadConverterPath,
    ...workflowInterceptorModules,
    workflowsEntry,
  ],
  // Omit the sources, because each worker process would hold their text several times.
  webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  logger: new DefaultLogger('WARN'),
});
await writeFile(workflowBundle.codePath, code);
