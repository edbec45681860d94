import type { Principal } from '../../auth/principal.js';
import { createPipeline } from '../../governance/tools/perform-tool.js';
import type { Tool } from '../../governance/tools/tool.js';
import { currentTrace } from '../../http/trace.js';
import type { Deps } from '../deps.js';

/**
 * Calls a tool in the name of a person, for a workflow. The call passes all stages of the pipeline. It cannot receive a
 * resume token, so no approval is requested: `cannotWait` is the refusal.
 */
export async function callToolAs(
  { kernel, governance, metrics }: Pick<Deps, 'governance' | 'kernel' | 'metrics'>,
  principal: Principal,
  { tool, input, signal, cannotWait }: { tool: Tool; input: unknown; signal: AbortSignal; cannotWait: string },
): Promise<Record<string, unknown>> {
  const pipeline = createPipeline({
    ...{ kernel, metrics, cannotWait, quota: governance.quota },
    authenticate: async () => principal,
    resolveScope: async (authenticated) => authenticated,
  });
  const { body } = await pipeline({
    ...{ tool, input, signal },
    params: {},
    authorization: undefined,
    workspace: undefined,
    resumeToken: undefined,
    channel: 'agent',
    trace: currentTrace(),
  });
  return body;
}
