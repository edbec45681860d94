import { deciderRoles, rolesOf } from '../../auth/grants.js';
import { holdsGrant, isPerson, permits, type Permission, type Principal } from '../../auth/principal.js';
import { approvalsOf, barredFromDeciding } from '../../../workflows/approval/state.js';
import { pickShown } from '../../base/pick.js';
import { viewOf, type KeptOutline } from './payload.js';
import { titleOfOperation } from './summary.js';
import { absent, Approval, type ApprovalDocument } from './record.js';

/** The approval as the caller sees it. `outline` is that of its kept call, if there is one. */
export function toApproval(
  document: ApprovalDocument,
  principal: Principal,
  outline: KeptOutline | undefined,
  reader: Reader = readerOf(principal),
): Approval {
  const seesWhole = reader === 'person' && mayReadCall(principal, document);
  const seesCall = outline !== undefined && mayReadCall(principal, document);
  const refusal = refusalToDecide(principal, document);
  return {
    ...absent,
    ...pickShown(Approval, document),
    approval_id: document._id,
    approvals_given: approvalsOf(document).length,
    outcome_unknown: document.after_unknown ?? false,
    may_decide: refusal === undefined,
    may_not_decide_reason: refusal?.message ?? null,
    summary: outline?.summaries[seesWhole ? 'whole' : 'redacted'] ?? titleOfOperation(document.tool),
    may_see_payload: seesCall,
    payload_view: seesCall ? viewOf(outline, seesWhole) : null,
  };
}

/** What everybody who decides on other people's calls needs. */
export const deciding: Permission = { grant: 'svc:governance.write', right: ['decide'] };

/** `person`: a signed-in person, who reads whole calls. `client`: a program, which reads redacted calls. */
export type Reader = 'person' | 'client';

export function readerOf(principal: Principal): Reader {
  return isPerson(principal) ? 'person' : 'client';
}

/** Approvers and auditors read the call, before and after the decision. */
export function mayReadCall(principal: Principal, approval: Pick<ApprovalDocument, 'approver_roles'>): boolean {
  return isApprover(principal, approval) || holdsGrant(principal, 'svc:governance.read');
}

/** Why the caller may not decide this approval now; undefined if they may. `decide.ts` and the views use the same rules. */
export function refusalToDecide(
  principal: Principal,
  approval: ApprovalDocument,
): { code: 'scope_denied' | 'conflict'; message: string } | undefined {
  const { status, votes, edited_payload_digest } = approval;
  const denied = (message: string) => ({ code: 'scope_denied' as const, message });
  if (!permits(principal, deciding))
    return denied(
      'deciding needs the role APPROVER or an admin role on this project, or a key with svc:governance.write',
    );
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
  if (!permits(principal, deciding)) return false;
  return approver_roles === undefined || (isPerson(principal) && decidingRole(principal, approver_roles) !== undefined);
}

/** The highest role with which the caller decides; undefined if none of its roles may. */
export function decidingRole(
  principal: Principal,
  approver_roles: readonly string[] = deciderRoles,
): string | undefined {
  return rolesOf(principal).find((role) => approver_roles.includes(role));
}
