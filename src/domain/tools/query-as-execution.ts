import { principalOfRun, type ExecutionIdentity } from '../../auth/run-principal.js';
import type { Deps } from '../deps.js';
import type { ContextAnswer } from '../../graph/query/views.js';
import { callToolAs } from './call-as.js';
import { queryContextTool } from './query-context.js';

/**
 * The tool query-context for an execution. It passes all stages of the pipeline, with only `svc:query.read` on its
 * project and with the person's current role there. Errors are those of the pipeline.
 */
export function createQueryAsExecution(
  deps: Pick<Deps, 'mongo' | 'graph' | 'redact' | 'governance' | 'kernel' | 'metrics' | 'nearestByText' | 'reranker'>,
) {
  const { graph, redact, nearestByText, reranker } = deps;
  const { collections } = deps.mongo;
  const tool = queryContextTool.create({ graph, redact, collections, nearestByText, reranker });
  return async (identity: ExecutionIdentity, input: { query: string; limit: number }, signal: AbortSignal) => {
    const principal = await principalOfRun(collections, identity, ['svc:query.read']);
    const body = await callToolAs(deps, principal, { tool, input, signal, cannotWait });
    // The tool's answer with the id that the pipeline adds. It cannot be a dry run or an approval.
    return body as unknown as ContextAnswer & { lifecycle_id: string };
  };
}

const cannotWait = 'the policies ask for an approval to read the context graph, which an execution cannot wait for';
