import type { Principal } from '../../../src/auth/principal.js';
import type { Attempt, Call, Executed } from '../../../src/governance/kernel/call.js';
import { saveModel } from '../../../src/domain/tools/save-model.js';
import { newId } from '../../../src/base/ids.js';
import { epochSeconds } from '../../../src/base/time.js';

interface KernelCallOptions extends Partial<Pick<Call, 'entrance'>> {
  principal: Principal;
  lifecycleId?: string;
  resumeToken?: string;
  run(attempt: Attempt): Promise<Executed>;
}

/** A save-model call with an effect that the test defines. */
export function kernelCall({
  principal,
  lifecycleId = newId(),
  resumeToken,
  run,
  entrance = 'tool',
}: KernelCallOptions): Call {
  return {
    entrance,
    lifecycleId,
    startedAt: epochSeconds(),
    name: 'save-model',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    resumeToken,
    authenticate: async () => ({ ...principal, grants: [...principal.grants, 'svc:model.write'] }),
    resolveScope: async (given) => given,
    operationOf: async () => saveModel,
    validate: async () => ({ input: { model: 'm' }, resource: { type: 'model', id: 'm' }, dryRun: false, run }),
  };
}
