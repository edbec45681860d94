import { roleOn } from '../auth/users.js';
import type { Principal } from '../auth/principal.js';
import type { Deps } from '../deps.js';
import { AppError } from '../errors.js';
import type { ContextAnswer } from '../graph/query/views.js';
import { createProjectModeReader } from '../graph/project-mode.js';
import { presentTrace } from '../http/trace.js';
import { createStageObserver } from '../observability/stages.js';
import type { GatewayDeps } from './gateway-deps.js';
import { createPipeline } from './pipeline.js';
import { createQueryContextTool } from './tools/query-context.js';

export interface ExecutionIdentity {
  executionId: string;
  /** Who made the execution. */
  userId: string;
  organizationId: string;
  projectId: string;
}

export type QueryAsExecution = (
  identity: ExecutionIdentity,
  input: { query: string; limit: number },
  signal: AbortSignal,
) => Promise<ContextAnswer & { lifecycle_id: string }>;

/**
 * The tool query-context for a run: through all stages of the pipeline, with `svc:query.read` on its project and nothing
 * else, and with the role that its person has there now. Errors are the pipeline's.
 */
export function createQueryAsExecution(deps: Pick<Deps, 'mongo' | 'graph' | 'governance' | 'metrics' | 'tracing'>): QueryAsExecution {
  const { graph, governance, metrics } = deps;
  const { collections } = deps.mongo;
  const tool = createQueryContextTool({ graph, collections });
  const projectMode = createProjectModeReader(collections);
  const observeStage = createStageObserver(deps);
  return async (identity, input, signal) => {
    const principal = await principalOf(collections, identity);
    const pipeline = createPipeline({
      ...governance,
      projectMode,
      observeStage,
      metrics,
      approvals: { stage: refuseToWait },
      authenticate: async () => principal,
      resolveScope: async (authenticated) => authenticated,
    });
    const received = { tool, input, params: {}, authorization: undefined, workspace: undefined, resumeToken: undefined, trace: presentTrace(), signal };
    const { body } = await pipeline(received);
    // The tool's own answer with the id that the pipeline adds: neither a dry run nor an approval can stand here.
    return body as unknown as ContextAnswer & { lifecycle_id: string };
  };
}

async function principalOf(collections: Deps['mongo']['collections'], { executionId, userId, organizationId, projectId }: ExecutionIdentity): Promise<Principal> {
  const role = (await roleOn(collections, userId, { _id: projectId, organization_id: organizationId })) ?? 'MEMBER';
  return { kind: 'execution', executionId, userId, organizationId, departmentId: '', projectId, role, grants: ['svc:query.read'] };
}

/** Nobody could hand a resume token to the run, so that no approval is asked for which nothing would use. */
const refuseToWait: GatewayDeps['approvals']['stage'] = async ({ decision }) => {
  if (decision.decision !== 'require_approval') return { outcome: 'not_asked' };
  throw new AppError('S6:approval', 'the policies ask for an approval to read the context graph, which an execution cannot wait for');
};
