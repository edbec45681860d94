import { z } from 'zod';
import { Approval, ApprovalStatus, ApprovalWithToken } from '../../governance/approvals/record.js';
import { decideApprovalRules } from '../../governance/approvals/rules.js';
import { listOf, ListQuery } from '../../stores/lists.js';
import { defineOperation } from '../operation.js';
import { Id } from '../../ids.js';

const key = z.object({ id: Id });
const Text = z.string().max(1000).optional().meta({ example: 'As agreed' });

export const listApprovals = defineOperation({
  name: 'approval.list',
  effect: 'read',
  grant: 'any',
  input: ListQuery.extend({ status: ApprovalStatus.optional() }),
  output: listOf(Approval),
  run: ({ deps, ctx, input }) => deps.governance.approvals.list(ctx.principal, input),
});

export const readApproval = defineOperation({
  name: 'approval.read',
  effect: 'read',
  grant: 'any',
  key,
  output: ApprovalWithToken,
  run: ({ deps, ctx, key: { id } }) => deps.governance.approvals.read(ctx.principal, id),
});

const decideOperation = (decision: 'approve' | 'reject') =>
  defineOperation({
    ...decideApprovalRules,
    grant: 'svc:governance.write',
    given: { decision },
    key,
    input: z.strictObject({
      reason: Text.meta({ description: 'The reason for the decision.' }),
      comment: Text.meta({ description: 'An older name of `reason`.' }),
    }),
    output: Approval,
    errors: ['conflict', 'scope_denied'],
    run: ({ deps, ctx, key: { id }, input: { reason, comment } }) =>
      deps.governance.approvals.decide(
        ctx.principal,
        id,
        { decision, comment: reason ?? comment },
        ctx.idempotencyKey && ctx.recordId,
      ),
  });
export const approveCall = decideOperation('approve');
export const rejectCall = decideOperation('reject');
