import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { callAs } from '../../../governance/kernel/call-as.js';
import { startRules } from '../../caused-rules.js';

interface StartOnBehalf {
  entrance: 'schedule' | 'event';
  principal: Principal;
  agentflowId: string;
  executionId: string;
  /** What rules read about the release (`startFacts`). */
  facts: Readonly<Record<string, unknown>> & { draft: boolean };
}

/**
 * Starts a run for a schedule or an event, on behalf of its owner. It is the same operation as `run-agent`, with the same
 * policies. If an earlier attempt is recorded as completed, further attempts are not recorded.
 * @throws AppError `policy_denied` or `approval_refused` if the policies do not permit it, and errors of `start`
 */
export async function startOnBehalf<T>(
  deps: Pick<Deps, 'kernel' | 'mongo'>,
  { entrance, principal, agentflowId, executionId, facts }: StartOnBehalf,
  start: () => Promise<T>,
): Promise<T> {
  const earlier = await deps.mongo.collections.lifecycles.findOne({ _id: executionId });
  if (earlier?.status === 'completed') return start();
  const performed = await deps.kernel.perform(
    callAs(async () => principal, {
      // The first attempt uses the execution id, so that later attempts find it.
      ...(!earlier && { lifecycleId: executionId }),
      operation: startRules,
      entrance,
      validate: async () => ({
        input: { agentflow_id: agentflowId, execution_id: executionId, step: 'start' },
        resource: { type: 'agentflow', id: agentflowId },
        dryRun: false,
        lookUp: async () => ({ facts }),
        run: async () => ({ body: await start(), ...(facts.draft && { outcome: 'draft' }) }),
      }),
    }),
  );
  if ('error' in performed) throw performed.error;
  return performed.ending.body as T;
}
