import type { Move } from '../../../workflows/agentflow-execution/state.js';
import { freeText, textFacts, whole, type Operation } from '../../governance/operations/operation.js';

/**
 * Preparing, rerunning and starting are one operation for rules, whether a route, `run-agent`, a schedule or an event
 * asks for it. A rule can distinguish them by `step`.
 */
export const startRules: Operation = {
  name: 'execution.start',
  alias: 'run-agent',
  grant: ({ step }) => (step === 'prepare' ? 'svc:orchestrate.write' : 'svc:agent.run'),
  effect: 'act',
  facts: textFacts('agentflow_id', 'execution_id', 'step'),
};

export const moves = ['pause', 'resume', 'cancel'] as const satisfies readonly Move[];

export function isMove(operation: unknown): operation is Move {
  return (moves as readonly unknown[]).includes(operation);
}

/** Pausing, resuming and cancelling are one operation for rules, and also `orchestrate` of the gateway. */
export const steerRules: Operation = {
  name: 'execution.steer',
  alias: 'orchestrate',
  grant: ({ operation }) => (isMove(operation) ? 'svc:orchestrate.write' : 'svc:orchestrate.read'),
  effect: ({ operation }) => (isMove(operation) ? 'write' : 'read'),
  facts: textFacts('operation', 'execution_id'),
};

/** Whether a run may continue after its anomaly check has found something. The run itself asks. */
export const continueRules: Operation = {
  name: 'execution.continue-after-anomaly',
  grant: 'svc:agent.run',
  effect: 'write',
  facts: {
    ...textFacts('agentflow_id', 'agent_id', 'execution_id', 'started_by'),
    agentflow_version: whole('agentflow_version'),
    tokens_spent: whole('tokens_spent'),
    credits_spent: whole('credits_spent'),
    finding: freeText('finding'),
  },
};

/**
 * Deciding a preview is one operation for rules, whether the route of the execution or of its inbox item asks for it. A person's
 * answer to an MCP server that asks during a run is the same operation.
 */
export const decideRules: Operation = {
  name: 'execution.decide',
  grant: 'svc:orchestrate.write',
  effect: 'write',
  facts: textFacts('execution_id', 'agent_id', 'decision'),
};

/** The preview that an approval is, by the id of the approval: `<execution>:<agent>:<time>`. Other approvals have no such id. */
export function previewNamed(approvalId: string): { executionId: string; agentId: string } | undefined {
  const [executionId = '', agentId] = approvalId.split(':');
  return agentId === undefined ? undefined : { executionId, agentId };
}
