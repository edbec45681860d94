import type { Requirement } from './requirement.js';

/** What the people who decide on a call see of it. */
export const approvals = [
  {
    id: 'approval.whole-call',
    source: 'docs/decisions/0021-what-approvers-see.md',
    says: 'Approvers and auditors see the whole call without its secrets; programs see a redacted call. What is hidden or shortened is said, and then a decision names the digest.',
  },
  {
    id: 'approval.reading-audited',
    source: 'docs/decisions/0021-what-approvers-see.md',
    says: 'Each reading of a whole call by a person is in the audit chain; repeated readings within ten minutes are one entry.',
  },
  {
    id: 'approval.call-kept',
    source: 'docs/decisions/0021-what-approvers-see.md',
    says: 'The call stays after the decision, with the edits of approvers, until its project is deleted.',
  },
  {
    id: 'approval.summary',
    source: 'docs/decisions/0021-what-approvers-see.md',
    says: 'Each approval has a summary in one line, which values of fields cannot forge.',
  },
  {
    id: 'approval.votes-counted',
    source: 'docs/guides/govern-agents.md',
    says: 'approvals_given counts only the approvals of the call as it is now.',
  },
  {
    id: 'approval.upgrade',
    source: 'docs/guides/operations.md#stop-and-upgrade',
    says: 'Approvals that 0.2.0 stored stay valid, and their tokens permit one call, even while processes of both releases run or are killed.',
  },
  {
    id: 'approval.started',
    source: 'docs/decisions/0022-who-decides.md',
    says: 'An approval whose process died before it began can be decided, withdrawn and expires like every other.',
  },
  {
    id: 'approval.used-call',
    source: 'docs/guides/gateway.md',
    says: 'A repeat of a call that used its approval, was recorded and could not be answered is not made again: its 403 says that used_by of the approval is the executed call.',
  },
] as const satisfies readonly Requirement[];
