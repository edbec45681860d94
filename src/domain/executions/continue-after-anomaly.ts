import type { AwaitedApproval, Refused } from '../../../workflows/agentflow-execution/act-messages.js';
import type { ContinueRequest } from '../../../workflows/agentflow-execution/steps/continue.js';
import type { Performed } from '../../governance/kernel/perform.js';
import { newId } from '../../base/ids.js';
import {
  expiredCall,
  hasExpired,
  outcomeOf,
  performAsRun,
  reasonOf,
  refusalAfterDecision,
  settleUsed,
  type RunCallDeps,
} from '../actions/operations/calls-of-runs.js';
import type { ExchangePart } from './exchanges.js';
import { continueRules } from './rules.js';

type ContinueResult = { permitted: true } | { held: AwaitedApproval } | { refused: Refused };

/** Evaluates the rules for continuing a run after an anomaly. Its only effect is its record. Safe to repeat. */
export async function continueAfterAnomaly(
  deps: RunCallDeps,
  request: ContinueRequest,
  note: (part: ExchangePart) => void,
): Promise<ContinueResult> {
  const perform = (approvalId: string | undefined) => ask(deps, request, { approvalId, note });
  const approval = request.approval;
  if (!approval) return resultOf(await perform(undefined));
  const performed = await perform(approval.approval_id);
  const reason = 'error' in performed ? reasonOf(performed.error) : undefined;
  if (!('error' in performed) || reason === undefined) return resultOf(performed);
  if (reason === 'used') {
    await settleUsed(deps.collections, approval);
    return { permitted: true };
  }
  if (reason === 'rejected' || reason === 'expired')
    return { refused: await refusalAfterDecision(deps.collections, approval, performed.error) };
  if (await hasExpired(deps.collections, approval.approval_id)) return { refused: expiredCall(approval) };
  return resultOf(await perform(undefined));
}

function resultOf(performed: Performed): ContinueResult {
  const outcome = outcomeOf(performed);
  return 'body' in outcome ? { permitted: true } : outcome;
}

function ask(
  deps: RunCallDeps,
  request: ContinueRequest,
  { approvalId, note }: { approvalId: string | undefined; note: (part: ExchangePart) => void },
): Promise<Performed> {
  const { idempotency_key, run, finding } = request;
  const lifecycleId = newId();
  note({ lifecycle_id: lifecycleId, input: { finding } });
  const { agentflow_id, agentflow_version, agent_id, execution_id } = run;
  return performAsRun(deps, request, {
    ...{ lifecycleId, operation: continueRules, approvalId },
    resource: { type: 'execution', id: execution_id },
    check: () => ({
      input: { idempotency_key, agentflow_id, agentflow_version, agent_id, execution_id, finding },
      approvalContext: async () => ({ agentflow: run.agentflow_name, agent: run.agent_title }),
      run: async () => ({ body: null }),
    }),
  });
}
