import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { packageRoot } from '../package-root.js';
import { workflowBundle, workflowsEntry } from '../workflow-code.js';

/** Part of the build: workers load the bundle instead of each making its own when it starts. */
const { code } = await bundleWorkflowCode({
  workflowsPath: path.join(packageRoot, workflowsEntry),
  logger: { log: () => undefined, trace: () => undefined, debug: () => undefined, info: () => undefined, warn: console.error, error: console.error },
});
await writeFile(path.join(packageRoot, workflowBundle), code);
