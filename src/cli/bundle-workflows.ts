import { writeFile } from 'node:fs/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { workflowBundle, workflowInterceptorModules, workflowsEntry } from '../workflow-code.js';

/** Part of the build: workers load the bundle instead of each making its own when it starts. */
const { code } = await bundleWorkflowCode({ workflowsPath: workflowsEntry, workflowInterceptorModules, logger: new DefaultLogger('WARN') });
await writeFile(workflowBundle.codePath, code);
