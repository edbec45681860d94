import { writeFile } from 'node:fs/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { failureConverterPath } from '../temporal/data-converter.js';
import { workflowBundle, workflowInterceptorModules, workflowsEntry } from '../workflow-code.js';

/** Part of the build. Workers load this bundle instead of creating their own at start. */
const { code } = await bundleWorkflowCode({
  workflowsPath: workflowsEntry,
  workflowInterceptorModules,
  failureConverterPath,
  // Each worker process would hold the sources' text several times.
  webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  logger: new DefaultLogger('WARN'),
});
await writeFile(workflowBundle.codePath, code);
