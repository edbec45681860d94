import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionSummary, PlatformPorts } from '../ports.js';
import type { Authenticate } from './caller.js';
import type { Exchange } from './exchange.js';

export type Execution = Record<string, unknown> & ExecutionSummary;

/** Looks at an execution until it ends or the time is over; answers it as it then is. */
export type FollowExecution = (executionId: string, exchange: Exchange, timeoutSeconds: number) => Promise<Execution>;

const firstPauseMs = 100;
const longestPauseMs = 1000;

export function hasEnded({ status }: ExecutionSummary): boolean {
  return status === 'completed' || status === 'failed';
}

export interface FollowDeps {
  executions: Pick<PlatformPorts['executions'], 'get'>;
  authenticate: Authenticate;
  /** The process stops: whoever waits is answered, and can go on waiting at another one. */
  stopping: AbortSignal;
}

/**
 * Looks by the platform's own operation, not by the pipeline: one call is one call of the quota, however long it waits.
 * Each look checks the credential anew.
 * @throws AppError `invalid_token`, `not_found`; AbortError when the client cancels
 */
export function createFollowExecution({ executions, authenticate, stopping }: FollowDeps): FollowExecution {
  return async (executionId, exchange, timeoutSeconds) => {
    const begun = performance.now();
    const waited = () => (performance.now() - begun) / 1000;
    const report = createReport(exchange);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
      const execution = await executions.get(await authenticate(exchange.caller), executionId);
      const left = timeoutSeconds - waited();
      // The answer itself tells the end.
      if (hasEnded(execution) || left <= 0 || stopping.aborted) return execution;
      await report(execution, waited());
      await delay(Math.min(pauseMs, left * 1000), undefined, { signal: exchange.signal });
    }
  };
}

const quietSeconds = 10;

/** Tells every change, and now and then that there was none; the progress must grow with each message. */
function createReport({ progress: send }: Exchange) {
  let last = { progress: -1, message: '', at: 0 };
  return async (execution: Execution, waited: number): Promise<void> => {
    const { done, total } = agentsOf(execution);
    const message = `execution ${execution.execution_id}: ${execution.status}, ${done} of ${total} agents done`;
    const quiet = message === last.message && waited - last.at < quietSeconds;
    const progress = Math.min(done + waited / (waited + 60), total);
    if (!send || quiet || progress <= last.progress) return;
    last = { progress, message, at: waited };
    await send({ progress, total, message }).catch(() => undefined);
  };
}

function agentsOf({ agentflow, agents_output: outputs }: Execution): { done: number; total: number } {
  const agents = typeof agentflow === 'object' && agentflow !== null && 'agents' in agentflow ? agentflow.agents : undefined;
  return { done: Array.isArray(outputs) ? outputs.length : 0, total: Array.isArray(agents) ? Math.max(agents.length, 1) : 1 };
}
