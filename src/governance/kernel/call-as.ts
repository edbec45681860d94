import type { Principal } from '../../auth/principal.js';
import { currentTrace } from '../../http/trace.js';
import { newId } from '../../ids.js';
import { epochSeconds } from '../../time.js';
import type { Call } from './call.js';

/** A call of a principal that is known: no surface has to verify a credential or to count the call. */
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
