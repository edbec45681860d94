import { steeringRuns } from '../../auth/grants.js';
import type { Move } from '../../../workflows/agentflow-execution/state.js';
import { flag, freeText, textFacts, type Operation } from '../../governance/operations/operation.js';
import { factsAboutRuns } from '../actions/rules.js';
import type { ExecutionDocument } from './record.js';

export const moves = ['pause', 'resume', 'cancel'] as const satisfies readonly Move[];

/**
 * Rules treat pausing, resuming and cancelling as one operation, which includes `orchestrate` of the gateway, where a call
 * that only lists or reads needs less.
 */
export const steerRules: Operation = {
  name: 'execution.steer',
  alias: 'orchestrate',
  grant: 'svc:orchestrate.write',
  right: steeringRuns,
  effect: 'write',
  facts: textFacts('operation', 'execution_id'),
};

/** Whether a run may continue after its anomaly check has found something. The run performs this operation. */
export const continueRules: Operation = {
  name: 'execution.continue-after-anomaly',
  grant: 'svc:agent.run',
  effect: 'write',
  facts: { ...factsAboutRuns, finding: freeText('finding') },
};

/** Rules see the name of an event that somebody sends to a run. */
export const eventRules: Operation = {
  name: 'execution.event',
  grant: 'svc:orchestrate.write',
  right: steeringRuns,
  effect: 'write',
  facts: { ...textFacts('execution_id'), name: freeText('name') },
};

/** Rules see the step for which somebody creates an address. A call of the address is `execution.event`. */
export const addressRules: Operation = {
  name: 'execution.create-address',
  grant: 'svc:orchestrate.write',
  effect: 'write',
  facts: textFacts('execution_id', 'step_id'),
};

/**
 * Rules treat a decision on a preview as one operation, for the route of the execution and for the inbox. The answer of
 * a person to a question of an MCP server during a run is the same operation.
 */
export const decideRules: Operation = {
  name: 'execution.decide',
  grant: 'svc:orchestrate.write',
  // Whoever owns an account answers for it, so the inbox admits them too; `auth/decisions.ts` decides.
  right: ['decide', 'run'],
  effect: 'write',
  facts: { ...textFacts('execution_id', 'agent_id', 'decision'), decides_own: flag('decides_own') },
};

/**
 * The id of the approval of a preview: `<execution>:<agent>:<time>`. In a part of a flow, the agent follows its path,
 * with `~` between them, because ids are parts of addresses.
 */
export function previewApprovalId(
  executionId: string,
  { agent_id, path, requested_at }: Pick<ExecutionDocument['previews'][string], 'agent_id' | 'path' | 'requested_at'>,
): string {
  const agent = path === undefined ? agent_id : `${path.replaceAll('/', '~')}~${agent_id}`;
  return `${executionId}:${agent}:${Math.round(requested_at * 1000)}`;
}

/** Parses such an id to the execution and the name of the preview in it. Undefined for other approvals. */
export function previewNamed(approvalId: string): { executionId: string; name: string } | undefined {
  const [executionId = '', agent] = approvalId.split(':');
  return agent === undefined ? undefined : { executionId, name: agent.replaceAll('~', '/') };
}

/** The people who caused the run, and so asked for its previews. */
export function askersOf({ executed_by, caused_by }: Pick<ExecutionDocument, 'executed_by' | 'caused_by'>): string[] {
  return [executed_by._id, ...caused_by];
}
