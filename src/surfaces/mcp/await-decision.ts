import { setTimeout as delay } from 'node:timers/promises';
import type { Approvals } from '../../governance/approvals/create-approvals.js';
import type { RecheckCredentials } from './caller.js';
import { patienceSeconds } from './execution-tools.js';
import type { Exchange, PendingOutcome } from './exchange.js';

const pauseMs = 500;

interface AwaitDecisionDeps {
  approvals: Pick<Approvals, 'read'>;
  recheckCredentials: RecheckCredentials;
  stopping: AbortSignal;
}

/** Returns whether the approval was decided within the time that a client waits for a response. */
export function createAwaitDecision({ approvals, recheckCredentials, stopping }: AwaitDecisionDeps) {
  return async ({ approvalId }: PendingOutcome, { caller, signal }: Exchange): Promise<boolean> => {
    for (
      const deadline = performance.now() + patienceSeconds * 1000;
      performance.now() < deadline && !stopping.aborted;
    ) {
      const { status } = await approvals.read(await recheckCredentials(caller), approvalId);
      if (status !== 'pending') return true;
      await delay(pauseMs, undefined, { signal });
    }
    return false;
  };
}
