import { loadConfig } from '../../../src/config.js';
import { createDeps } from '../../../src/deps.js';
import type { Principal } from '../../../src/auth/principal.js';
import { readyToGo } from './fork.js';
import { kernelCall } from './kernel-call.js';

interface DyingCallOptions {
  env: Record<string, string>;
  principal: Principal;
  lifecycleId: string;
  resumeToken: string;
}

/** Performs an operation and dies directly after its effect, before its outcome is recorded. */
const { env, principal, lifecycleId, resumeToken } = JSON.parse(process.argv[2] ?? '') as DyingCallOptions;
const deps = createDeps(loadConfig(env), 'test');
await readyToGo();
await deps.kernel.perform(
  kernelCall({
    ...{ principal, lifecycleId, resumeToken },
    async run() {
      await deps.mongo.collections.project_models.updateOne(
        { _id: principal.projectId },
        { $set: { model: 'took effect' } },
        { upsert: true },
      );
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    },
  }),
);
