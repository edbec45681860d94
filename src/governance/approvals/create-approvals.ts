import type { Principal } from '../../auth/principal.js';
import type { ListQuery, Page } from '../../http/lists.js';
import type { SecretBox } from '../../auth/secret-box.js';
import type { Collections } from '../../stores/collections.js';
import type { Temporal } from '../../temporal/client.js';
import { decideApproval } from './decide.js';
import { listApprovals, readApproval } from './read.js';
import type { Approval, ApprovalWithToken } from './record.js';
import { approvalStage, type ApprovalOutcome, type ApprovalRequest } from './stage.js';

/** Approvals of held calls (design, S6): each is a workflow, its record the read model. */
export interface Approvals {
  /** The pipeline's stage S6. */
  stage(call: ApprovalRequest): Promise<ApprovalOutcome>;
  list(principal: Principal, query: ListQuery & { status?: Approval['status'] | undefined }): Promise<Page<Approval>>;
  read(principal: Principal, id: string): Promise<ApprovalWithToken>;
  decide(principal: Principal, id: string, vote: { decision: 'approve' | 'reject'; comment?: string | undefined }): Promise<Approval>;
}

export function createApprovals(deps: { collections: Collections; temporal: Temporal; secrets: Pick<SecretBox, 'open'> }): Approvals {
  return {
    stage: (call) => approvalStage(deps, call),
    list: (principal, query) => listApprovals(deps.collections, principal, query),
    read: (principal, id) => readApproval(deps, principal, id),
    decide: (principal, id, vote) => decideApproval(deps, principal, id, vote),
  };
}
