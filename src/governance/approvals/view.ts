import { holdsGrant, isPerson, type Principal } from '../../auth/principal.js';
import { barredFromDeciding } from '../../../workflows/approval/state.js';
import type { Approval, ApprovalDocument } from './record.js';

/** The approval as the caller sees it. */
export function toApproval(document: ApprovalDocument, principal: Principal, has_payload: boolean): Approval {
  const refusal = refusalToDecide(principal, document);
  const {
    _id,
    revision: _revision,
    organization_id: _organization,
    project_id: _project,
    changed_at: _changed,
    starter_may_decide: _rule,
    caused_by: _people,
    execution_id = null,
    approver_roles = null,
    edited_payload_digest = null,
    editable_fields = null,
    clock_stopped_at = null,
    after_unknown: outcome_unknown = false,
    used_at = null,
    used_by = null,
    ...record
  } = document;
  const optional = {
    execution_id,
    approver_roles,
    edited_payload_digest,
    editable_fields,
    clock_stopped_at,
    used_at,
    used_by,
  };
  return { approval_id: _id, ...record, ...optional, outcome_unknown, ...mayDecide(refusal), has_payload };
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

function mayDecide(
  refusal: ReturnType<typeof refusalToDecide>,
): Pick<Approval, 'may_decide' | 'may_not_decide_reason'> {
  return { may_decide: refusal === undefined, may_not_decide_reason: refusal?.message ?? null };
}

/** Whether the caller has the grant, and the role if a rule names any, to decide on other people's calls. */
export function isApprover(
  principal: Principal,
  { approver_roles }: Pick<ApprovalDocument, 'approver_roles'>,
): boolean {
  if (!holdsGrant(principal, 'svc:governance.write')) return false;
  return approver_roles === undefined || (isPerson(principal) && approver_roles.includes(principal.role));
}
