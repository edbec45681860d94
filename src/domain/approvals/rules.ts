import { decideApprovalRules } from '../../governance/approvals/rules.js';
import type { Operation } from '../../governance/operations/operation.js';
import { decideRules, previewNamed } from '../executions/rules.js';

/** The operation whose rules apply to a decision on this approval. */
export function rulesOfApproval(id: string): Operation {
  return previewNamed(id) ? decideRules : decideApprovalRules;
}

/** The resource and the facts of a decision on this approval. */
export function subjectOfApproval(id: string) {
  const preview = previewNamed(id);
  if (!preview) return { resource: { type: 'approval', id }, facts: { id } };
  const { executionId, agentId } = preview;
  return { resource: { type: 'execution', id: executionId }, facts: { execution_id: executionId, agent_id: agentId } };
}
