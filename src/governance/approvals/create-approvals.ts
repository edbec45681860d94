import type { Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import type { ListQuery, Page } from '../../stores/lists.js';
import { decideApproval, type Vote } from './decide.js';
import { listApprovals, readApproval } from './read.js';
import type { Approval, ApprovalWithToken } from './record.js';
import type { RequestDeps } from './request.js';
import { readPayloads } from './payload.js';
import { settleApproval, type Settlement } from './settle.js';
import { approvalStage, type ApprovalOutcome, type ApprovalRequest } from './stage.js';

/** Approvals of held calls (design, S6). A workflow makes each decision; the database record is its read model. */
export interface Approvals {
  /** Stage S6 of the pipeline. */
  stage(call: ApprovalRequest): Promise<ApprovalOutcome>;
  /** Must be called after a call that used a resume token. */
  settle(settlement: Settlement): Promise<void>;
  list(principal: Principal, query: ListQuery & { status?: Approval['status'] | undefined }): Promise<Page<Approval>>;
  /** The held calls as approvers see them, by approval id. Omits approvals that the caller may not decide. */
  heldCalls(approvals: readonly Approval[]): Promise<ReadonlyMap<string, unknown>>;
  read(principal: Principal, id: string): Promise<ApprovalWithToken>;
  decide(principal: Principal, id: string, vote: Vote, updateId?: string): Promise<Approval>;
}

export function createApprovals(deps: RequestDeps & { secrets: Pick<SecretBox, 'open' | 'seal' | 'sign'> }): Approvals {
  return {
    stage: (call) => approvalStage(deps, call),
    settle: (settlement) => settleApproval(deps.collections, settlement),
    list: (principal, query) => listApprovals(deps.collections, principal, query),
    heldCalls: (approvals) =>
      readPayloads(
        deps,
        approvals
          .filter(({ execution_id, has_payload }) => execution_id !== null && has_payload)
          .map(({ approval_id, edited_payload_digest }) => ({ _id: approval_id, edited_payload_digest })),
      ),
    read: (principal, id) => readApproval(deps, principal, id),
    decide: (principal, id, vote, updateId) => decideApproval(deps, principal, id, vote, updateId),
  };
}
