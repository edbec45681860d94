import type { Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { decideApproval, type Vote } from './decide.js';
import { listApprovals, readApproval, readApprovalWithCall, type ApprovalQuery } from './read.js';
import { auditReading, createReadings } from './readings.js';
import type { Audit } from '../audit/audit.js';
import type { Reader } from './view.js';
import type { Approval } from './record.js';
import type { RequestDeps } from './request.js';
import { readPayloads } from './payload.js';
import { approvalUsedBy, settleApproval, type Settlement } from './settle.js';
import { approvalStage, type ApprovalRequest } from './stage.js';

export type Approvals = ReturnType<typeof createApprovals>;

/** Approvals of held calls (design, S6). A workflow makes each decision; the database record is its read model. */
export function createApprovals(
  given: RequestDeps & { secrets: Pick<SecretBox, 'open' | 'seal'>; audit: Pick<Audit, 'append' | 'entrySince'> },
) {
  const deps = { ...given, readings: createReadings() };
  return {
    /** Stage S6 of the pipeline. */
    stage: (call: ApprovalRequest) => approvalStage(deps, call),
    /** The approval whose token this lifecycle has used, and not released. */
    usedBy: (lifecycleId: string) => approvalUsedBy(deps.collections, lifecycleId),
    /** Must be called after a call that used a resume token. */
    settle: (settlement: Settlement) => settleApproval(deps.collections, settlement),
    list: (principal: Principal, query: ApprovalQuery, reader?: Reader) =>
      listApprovals(deps, principal, query, reader),
    /** The redacted and shortened calls of runs, by approval id. Omits those that the caller may not see. */
    heldCalls: ({ organizationId }: Principal, approvals: readonly Approval[]) =>
      readPayloads(
        deps,
        approvals
          .filter(({ execution_id, may_see_payload }) => execution_id !== null && may_see_payload)
          .map(({ approval_id, edited_payload_digest }) => ({ _id: approval_id, edited_payload_digest })),
        { seesWhole: false, organizationId },
      ),
    read: (principal: Principal, id: string) => readApproval(deps, principal, id),
    readWithCall: (principal: Principal, id: string, reader?: Reader) =>
      readApprovalWithCall(deps, principal, id, reader),
    /** Must be called before a whole call that is kept elsewhere, such as a preview or a memory, is shown to a person. */
    auditReading: (principal: Principal, id: string, kind?: 'approval' | 'memory') =>
      auditReading(deps, principal, id, kind),
    hideSecrets: deps.hideSecrets,
    redact: deps.redact,
    decide: (principal: Principal, id: string, vote: Vote, updateId?: string, reader?: Reader) =>
      decideApproval(deps, principal, id, vote, updateId, reader),
  };
}
