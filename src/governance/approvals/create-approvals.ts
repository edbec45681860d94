import type { Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { decideApproval, type Vote } from './decide.js';
import { listApprovals, readApproval, type ApprovalQuery } from './read.js';
import type { Approval } from './record.js';
import type { RequestDeps } from './request.js';
import { readPayloads } from './payload.js';
import { settleApproval, type Settlement } from './settle.js';
import { approvalStage, type ApprovalRequest } from './stage.js';

export type Approvals = ReturnType<typeof createApprovals>;

/** Approvals of held calls (design, S6). A workflow makes each decision; the database record is its read model. */
export function createApprovals(deps: RequestDeps & { secrets: Pick<SecretBox, 'open' | 'seal' | 'sign'> }) {
  return {
    /** Stage S6 of the pipeline. */
    stage: (call: ApprovalRequest) => approvalStage(deps, call),
    /** Must be called after a call that used a resume token. */
    settle: (settlement: Settlement) => settleApproval(deps.collections, settlement),
    list: (principal: Principal, query: ApprovalQuery) => listApprovals(deps.collections, principal, query),
    /** The held calls as approvers see them, by approval id. Omits approvals that the caller may not decide. */
    heldCalls: (approvals: readonly Approval[]) =>
      readPayloads(
        deps,
        approvals
          .filter(({ execution_id, has_payload }) => execution_id !== null && has_payload)
          .map(({ approval_id, edited_payload_digest }) => ({ _id: approval_id, edited_payload_digest })),
      ),
    read: (principal: Principal, id: string) => readApproval(deps, principal, id),
    decide: (principal: Principal, id: string, vote: Vote, updateId?: string) =>
      decideApproval(deps, principal, id, vote, updateId),
  };
}
