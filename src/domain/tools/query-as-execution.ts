import { principalOfRun, type ExecutionIdentity } from '../../auth/run-principal.js';
import type { Deps } from '../deps.js';
import type { ContextAnswer } from '../../graph/query/views.js';
import { currentTrace } from '../../http/trace.js';
import { createPipeline } from '../../governance/tools/perform-tool.js';
import { queryContextTool } from './query-context.js';

export type QueryAsExecution = (
  identity: ExecutionIdentity,
  input: { query: string; limit: number },
  signal: AbortSignal,
) => Promise<ContextAnswer & { lifecycle_id: string }>;

/**
 * The tool query-context for an execution. It passes all stages of the pipeline, with only `svc:query.read` on its
 * project and with the person's current role there. Errors are those of the pipeline.
 */
export function createQueryAsExecution(
  deps: Pick<Deps, 'mongo' | 'graph' | 'redact' | 'governance' | 'kernel' | 'metrics' | 'nearestByText' | 'reranker'>,
): QueryAsExecution {
  const { graph, redact, governance, kernel, metrics, nearestByText, reranker } = deps;
  const { collections } = deps.mongo;
  const tool = queryContextTool.create({ graph, redact, collections, nearestByText, reranker });
  return async (identity, input, signal) => {
    const principal = await principalOfRun(collections, identity, ['svc:query.read']);
    const pipeline = createPipeline({
      kernel,
      quota: governance.quota,
      metrics,
      cannotWait,
      authenticate: async () => principal,
      resolveScope: async (authenticated) => authenticated,
    });
    const received = {
      tool,
      input,
      params: {},
      authorization: undefined,
      workspace: undefined,
      resumeToken: undefined,
      channel: 'agent' as const,
      trace: currentTrace(),
      signal,
    };
    const { body } = await pipeline(received);
    // The tool's answer with the id that the pipeline adds. It cannot be a dry run or an approval.
    return body as unknown as ContextAnswer & { lifecycle_id: string };
  };
}

/** An execution cannot receive a resume token, so no approval is requested. */
const cannotWait = 'the policies ask for an approval to read the context graph, which an execution cannot wait for';
