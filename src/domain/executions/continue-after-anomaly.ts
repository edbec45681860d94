import type { AwaitedApproval, Refused } from '../../../workflows/agentflow-execution/act-messages.js';
import type { ContinueRequest } from '../../../workflows/agentflow-execution/steps/continue.js';
import type { Performed } from '../../governance/kernel/perform.js';
import { newId } from '../../base/ids.js';
import { callAfterDecision, performAsRun, type RunCallDeps } from '../actions/operations/calls-of-runs.js';
import type { ExchangePart } from './exchanges.js';
import { continueRules } from './rules.js';

type ContinueResult = { permitted: true } | { held: AwaitedApproval } | { refused: Refused };

/** Evaluates the rules for continuing a run after an anomaly. Its only effect is its record. Safe to repeat. */
export async function continueAfterAnomaly(
  deps: RunCallDeps,
  request: ContinueRequest,
  note: (part: ExchangePart) => void,
): Promise<ContinueResult> {
  const outcome = await callAfterDecision(deps.collections, request.approval, (approvalId) =>
    ask(deps, request, { approvalId, note }),
  );
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
