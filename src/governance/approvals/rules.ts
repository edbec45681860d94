import { text, type Operation } from '../operations/operation.js';

/** Rules treat every decision on an approval as one operation, by a route of approvals or by the inbox. */
export const decideApprovalRules: Operation = {
  name: 'approval.decide',
  grant: 'any',
  effect: 'write',
  facts: { approval_id: text('id'), decision: text('decision') },
};
