import * as approvals from '../../../domain/approvals/operations.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const route = routesOf('governance');

const decisionRoutes = [
  { name: 'approve', operation: approvals.approveCall, summary: 'Approve a call that waits' },
  { name: 'accept', operation: approvals.acceptCall, summary: 'Accept an act whose outcome is unknown as done' },
  { name: 'reject', operation: approvals.rejectCall, summary: 'Reject a call that waits' },
].map(({ name, operation, summary }) =>
  route(`POST /v1/approvals/{id}/${name}`, operation, {
    summary,
    description:
      'Requires the role APPROVER, PROJECT_ADMIN, ORG_ADMIN or OWNER, or a key with `svc:governance.write`. If a rule names `approver_roles`, only people with one of them can decide. The requester cannot decide, with any credential. A preview (`execution.preview`) is decided with one of these roles, also by the person who started the run.',
    response: { description: 'The current approval; it stays pending if more approvers are required.' },
    idempotent: true,
  }),
);

/** Calls that wait for a person's decision (specification and contract, approvals). */
export const approvalRoutes: readonly Route[] = [
  route('GET /v1/approvals', approvals.listApprovals, {
    summary: 'List the approvals of the project',
    description:
      'Lists all approvals for callers with `svc:governance.read`, and otherwise those that the caller requested. People who read the whole project have that grant: every role except MEMBER. Previews that wait are listed for callers with `svc:orchestrate.read`; the run keeps those that are decided.',
    response: { description: 'Newest first.' },
  }),
  route('GET /v1/approvals/{id}', approvals.readApproval, {
    summary: 'Read an approval; its requester gets the resume token',
    response: { description: 'The approval.', headers: { 'Cache-Control': 'no-store' } },
  }),
  ...decisionRoutes,
];
