import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../../auth/principal.js';
import type { Execution } from '../../domain/executions/record.js';
import type { RecheckCredentials } from './caller.js';
import type { Exchange } from './exchange.js';

/**
 * Reads the current state of an execution.
 * @throws AppError `not_found`
 */
export type ReadExecution = (principal: Principal, executionId: string) => Promise<Execution>;

/** Polls an execution until it ends or the timeout expires, and returns its current state. */
export type FollowExecution = (executionId: string, exchange: Exchange, timeoutSeconds: number) => Promise<Execution>;

const firstPauseMs = 100;
const maxPauseMs = 1000;

export function hasEnded({ status }: Pick<Execution, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

interface FollowDeps {
  readExecution: ReadExecution;
  recheckCredentials: RecheckCredentials;
  /** Ends all waits when the process stops. Clients can continue to wait at another process. */
  stopping: AbortSignal;
}

/**
 * Creates the polling function. It polls with the platform's operation, not through the pipeline, so that a wait counts
 * as one call of the quota. Each poll checks whether the credential was revoked. An expired token does not end the
 * wait.
 * @throws AppError `invalid_token`, `not_found`; AbortError when the client cancels
 */
export function createFollowExecution({ readExecution, recheckCredentials, stopping }: FollowDeps): FollowExecution {
  return async (executionId, exchange, timeoutSeconds) => {
    const startedAt = performance.now();
    const waited = () => (performance.now() - startedAt) / 1000;
    const report = createReport(exchange);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
      const execution = await readExecution(await recheckCredentials(exchange.caller), executionId);
      const left = timeoutSeconds - waited();
      // Skip the report, because the response contains the end.
      if (hasEnded(execution) || left <= 0 || stopping.aborted) return execution;
      await report(execution, waited());
      await delay(Math.min(pauseMs, left * 1000), undefined, { signal: exchange.signal });
    }
  };
}

const quietSeconds = 10;

/**
 * Creates a function that reports each change, and regularly that nothing changed. The protocol requires that the
 * progress value increases with each message.
 */
function createReport({ progress: send }: Exchange) {
  let last = { progress: -1, message: '', at: 0 };
  return async (execution: Execution, waited: number): Promise<void> => {
    const { done, total } = agentsOf(execution);
    const message = progressText(execution);
    const quiet = message === last.message && waited - last.at < quietSeconds;
    const progress = Math.min(done + waited / (waited + 60), total);
    if (!send || quiet || progress <= last.progress) return;
    last = { progress, message, at: waited };
    await send({ progress, total, message }).catch(() => undefined);
  };
}

export function progressText(execution: Execution): string {
  const { done, total } = agentsOf(execution);
  return `execution ${execution.execution_id}: ${execution.status}, ${done} of ${total} agents done`;
}

function agentsOf({ agentflow, agents_output: outputs }: Execution): { done: number; total: number } {
  const agents =
    typeof agentflow === 'object' && agentflow !== null && 'agents' in agentflow ? agentflow.agents : undefined;
  return {
    done: Array.isArray(outputs) ? outputs.length : 0,
    total: Array.isArray(agents) ? Math.max(agents.length, 1) : 1,
  };
}
