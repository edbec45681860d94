import { z } from 'zod';
import type { Approvals } from '../../governance/approvals/create-approvals.js';
import { Approval, ApprovalStatus, ApprovalWithToken } from '../../governance/approvals/record.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { ListQuery, listOf } from '../../http/lists.js';

const tag = 'governance';
const Params = z.object({ id: z.string() });
const Vote = z.strictObject({ comment: z.string().max(1000).optional() });

export interface ApprovalRoutesDeps {
  approvals: Approvals;
}

/** Calls that wait for people (specification and contract, approvals). */
export function approvalRoutes({ approvals }: ApprovalRoutesDeps): Route[] {
  const decisions = (['approve', 'reject'] as const).map((decision) =>
    defineRoute({
      method: 'post',
      path: `/v1/approvals/{id}/${decision}`,
      permission: 'any',
      tag,
      summary: decision === 'approve' ? 'Approve a call that waits' : 'Reject a call that waits',
      description: 'Needs OWNER, ORG_ADMIN or PROJECT_ADMIN; never the person who asked, with whichever credential.',
      params: Params,
      body: Vote,
      response: { schema: Approval, description: 'The approval as it now is; pending where more approvers are needed.' },
      errors: ['conflict', 'S2:resolve-scope'],
      handler: ({ ctx, params, body }) => approvals.decide(ctx.principal, params.id, { decision, comment: body.comment }),
    }),
  );
  return [
    defineRoute({
      method: 'get',
      path: '/v1/approvals',
      permission: 'any',
      tag,
      summary: 'List the approvals of the project',
      description: 'Administrators see all, everybody else those that they asked for.',
      query: ListQuery.extend({ status: ApprovalStatus.optional() }),
      response: { schema: listOf(Approval), description: 'Newest first.' },
      handler: ({ ctx, query }) => approvals.list(ctx.principal, query),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/approvals/{id}',
      permission: 'any',
      tag,
      summary: 'Read an approval; its requester gets the resume token',
      params: Params,
      response: { schema: ApprovalWithToken, description: 'The approval.' },
      handler: ({ ctx, params }) => {
        ctx.res.set('Cache-Control', 'no-store');
        return approvals.read(ctx.principal, params.id);
      },
    }),
    ...decisions,
  ];
}
