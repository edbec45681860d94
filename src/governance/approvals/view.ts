import { holdsGrant, isPerson, type Principal } from '../../auth/principal.js';
import { approvalsOf, barredFromDeciding } from '../../../workflows/approval/state.js';
import { pickShown } from '../../pick.js';
import { absent, Approval, type ApprovalDocument } from './record.js';

/** The approval as the caller sees it. */
export function toApproval(document: ApprovalDocument, principal: Principal, has_payload: boolean): Approval {
  const refusal = refusalToDecide(principal, document);
  return {
    ...absent,
    ...pickShown(Approval, document),
    approval_id: document._id,
    approvals_given: approvalsOf(document).length,
    outcome_unknown: document.after_unknown ?? false,
    may_decide: refusal === undefined,
    may_not_decide_reason: refusal?.message ?? null,
    has_payload,
  };
}

/** Why the caller may not decide this approval now; undefined if they may. `decide.ts` and the views use the same rules. */
export function refusalToDecide(
  principal: Principal,
  approval: ApprovalDocument,
): { code: 'scope_denied' | 'conflict'; message: string } | undefined {
  const { status, votes, edited_payload_digest } = approval;
  const denied = (message: string) => ({ code: 'scope_denied' as const, message });
  if (!holdsGrant(principal, 'svc:governance.write'))
    return denied('deciding needs an admin role on this project, or a key with svc:governance.write');
  const barred = barredFromDeciding(approval, principal.userId);
  if (barred !== undefined) return denied(barred);
  if (!isApprover(principal, approval))
    return denied(`only a person with the role ${approval.approver_roles?.join(' or ')} in this project decides`);
  if (status !== 'pending') return { code: 'conflict', message: `the approval is ${status}` };
  const hasVoted = votes.some(
    (vote) => vote.user_id === principal.userId && vote.payload_digest === edited_payload_digest,
  );
  return hasVoted ? { code: 'conflict', message: 'you have approved already; another person is needed' } : undefined;
}

/** Whether the caller has the grant, and the role if a rule names any, to decide on other people's calls. */
export function isApprover(
  principal: Principal,
  { approver_roles }: Pick<ApprovalDocument, 'approver_roles'>,
): boolean {
  if (!holdsGrant(principal, 'svc:governance.write')) return false;
  return approver_roles === undefined || (isPerson(principal) && approver_roles.includes(principal.role));
}
