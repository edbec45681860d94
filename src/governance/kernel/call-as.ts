import type { Principal } from '../../auth/principal.js';
import { currentTrace } from '../../http/trace.js';
import { newId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import type { Operation } from '../operations/operation.js';
import type { Call } from './call.js';

/** Calls an operation as a known principal, which needs no credential check. */
export function callAs(
  authenticate: () => Promise<Principal>,
  { operation, ...call }: { operation: Operation } & Pick<Call, 'entrance' | 'validate'> & Partial<Call>,
): Call {
  return {
    lifecycleId: newId(),
    startedAt: epochSeconds(),
    name: operation.name,
    traceId: currentTrace().traceId,
    authenticate,
    resolveScope: async (principal) => principal,
    operationOf: async () => operation,
    ...call,
  };
}
