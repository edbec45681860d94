import { text, type Operation } from '../operations/operation.js';

/** Deciding an approval is one operation for rules, whether a route of approvals or an inbox item asks for it. */
export const decideApprovalRules: Operation = {
  name: 'approval.decide',
  grant: 'any',
  effect: 'write',
  facts: { approval_id: text('id'), decision: text('decision') },
};
