import { z } from 'zod';
import type { ApprovalDecision } from '../../../workflows/approval/messages.js';
import { Edits } from '../../governance/approvals/edits.js';
import { Approval, ApprovalStatus, ApprovalWithToken } from '../../governance/approvals/record.js';
import { listOf, ListQuery, mergePages } from '../../stores/lists.js';
import { defineOperation } from '../operation.js';
import { Id } from '../../base/ids.js';
import { decideHeld, heldCalls, readHeld } from './operations/held.js';
import { subjectOfApproval } from './operations/subject.js';
import { decideApprovalRules, rulesOfApproval } from './rules.js';

const key = z.object({ id: Id });
const Text = z.string().max(1000).optional().meta({ example: 'As agreed' });

export const listApprovals = defineOperation({
  name: 'approval.list',
  effect: 'read',
  grant: 'any',
  input: ListQuery.extend({ status: ApprovalStatus.optional() }),
  output: listOf(Approval),
  async run({ deps, ctx, input }) {
    const page = mergePages(input.limit, await heldCalls(deps, ctx.principal, input));
    return { ...page, data: page.data.map(({ approval }) => approval) };
  },
});

export const readApproval = defineOperation({
  name: 'approval.read',
  effect: 'read',
  grant: 'any',
  key,
  output: ApprovalWithToken,
  async run({ deps, ctx, key: { id } }) {
    const { approval, call } = await readHeld(deps, ctx.principal, id);
    return { ...approval, ...(call !== undefined && { payload: call }) };
  },
});

const reasons = {
  reason: Text.describe('The reason for the decision.'),
  comment: Text.describe('An older name of `reason`.'),
};
const Reason = z.strictObject(reasons);
const Approving = z.strictObject({
  ...reasons,
  edits: Edits.optional(),
  payload_digest: z
    .string()
    .max(64)
    .optional()
    .describe(
      'The digest of the call that you saw. If the held call has changed, the answer is 409. Required once another approver has edited the call.',
    )
    .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
});

const decideOperation = <Input extends typeof Approving | typeof Reason>(decision: ApprovalDecision, input: Input) =>
  defineOperation({
    ...decideApprovalRules,
    grant: 'svc:governance.write',
    right: ['decide'],
    fixedFacts: { decision },
    key,
    input,
    output: Approval,
    errors: ['conflict', 'scope_denied', 'validation_failed'],
    rulesFor: ({ id }) => rulesOfApproval(id),
    lookUp: ({ deps, ctx, key: { id } }) => subjectOfApproval(deps, ctx.principal, id),
    async run({ deps, ctx, key: { id }, input: { reason, comment, ...edited } }) {
      const vote = { decision, comment: reason ?? comment, ...edited };
      const { approval } = await decideHeld(deps, ctx.principal, id, vote, ctx.idempotencyKey && ctx.recordId);
      return approval;
    },
  });
export const approveCall = decideOperation('approve', Approving);
/** Throws `conflict` unless the outcome of the call is unknown. */
export const acceptCall = decideOperation('accept', Reason);
export const rejectCall = decideOperation('reject', Reason);
