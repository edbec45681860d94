import { principalOfRun, type ExecutionIdentity } from '../../auth/run-principal.js';
import { performOperation } from '../../governance/kernel/perform-operation.js';
import type { ContextAnswer } from '../../graph/query/views.js';
import { currentTrace } from '../../http/trace.js';
import { validate } from '../../base/validation.js';
import type { Deps } from '../deps.js';
import { queryContext } from './query-context.js';

/**
 * The operation query-context for an execution. It passes all stages of the kernel, with only `svc:query.read` on its
 * project and with the person's current role there.
 */
export function createQueryAsExecution(deps: Deps) {
  return async (identity: ExecutionIdentity, input: { query: string; limit: number }, signal: AbortSignal) => {
    const principal = await principalOfRun(deps.mongo.collections, identity, ['svc:query.read']);
    const outcome = await performOperation({
      entrance: 'query',
      operation: queryContext,
      deps,
      ...{ signal, baseUrl: '', traceId: currentTrace().traceId },
      authenticate: async () => principal,
      key: () => undefined,
      read: async () => validate(queryContext.input, input, 'invalid_request'),
    });
    if ('error' in outcome) throw outcome.error;
    // It cannot be held.
    return { lifecycle_id: outcome.lifecycleId ?? '', ...(outcome.value as ContextAnswer) };
  };
}
