import type { Principal } from '../../auth/principal.js';
import { text, type Operation } from '../../governance/operations/operation.js';
import type { Deps } from '../deps.js';
import { decidesOwnPreview } from '../executions/operations/preview.js';
import { decideRules, previewNamed } from '../executions/rules.js';

/** Rules treat every decision on an approval as one operation, by a route of approvals or by the inbox. */
export const decideApprovalRules: Operation = {
  name: 'approval.decide',
  grant: 'any',
  effect: 'write',
  facts: { approval_id: text('id'), decision: text('decision') },
};

/** The operation whose rules apply to a decision on this approval. */
export function rulesOfApproval(id: string): Operation {
  return previewNamed(id) ? decideRules : decideApprovalRules;
}

/** The resource and the facts of a decision on this approval. */
export async function subjectOfApproval(deps: Pick<Deps, 'mongo'>, principal: Principal, id: string) {
  const preview = previewNamed(id);
  if (!preview) return { resource: { type: 'approval', id }, facts: { id } };
  const { executionId, agentId } = preview;
  const own = await decidesOwnPreview(deps, principal, executionId);
  return {
    resource: { type: 'execution', id: executionId },
    facts: { execution_id: executionId, agent_id: agentId, ...own },
  };
}
