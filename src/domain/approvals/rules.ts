import { text, type Operation } from '../../governance/operations/operation.js';
import { decideRules, previewNamed } from '../executions/rules.js';

/** Rules treat every decision on an approval as one operation, by a route of approvals or by the inbox. */
export const decideApprovalRules: Operation = {
  name: 'approval.decide',
  grant: 'any',
  right: ['decide'],
  effect: 'write',
  facts: { approval_id: text('id'), decision: text('decision') },
};

/** The operation whose rules apply to a decision on this approval. */
export function rulesOfApproval(id: string): Operation {
  return previewNamed(id) ? decideRules : decideApprovalRules;
}
