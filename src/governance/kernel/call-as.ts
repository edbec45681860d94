import type { Principal } from '../../auth/principal.js';
import { currentTrace } from '../../http/trace.js';
import { newId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import type { Call } from './call.js';

/** Calls an operation as a known principal, which needs no credential check and no request limit. */
export function callAs(
  authenticate: () => Promise<Principal>,
  call: Pick<Call, 'operation' | 'channel' | 'validate'> & Partial<Call>,
): Call {
  return {
    lifecycleId: newId(),
    startedAt: epochSeconds(),
    name: call.operation.name,
    traceId: currentTrace().traceId,
    authenticate,
    resolveScope: async (principal) => principal,
    admit: async () => undefined,
    ...call,
  };
}
