import { holdsGrant, type Principal } from '../../auth/principal.js';
import { notFound } from '../../errors.js';
import { isId } from '../../ids.js';
import { listPage, type ListQuery, type Page } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import { readPayloads, type PayloadDeps } from './payload.js';
import { sealedFor } from './resume-token.js';
import type { Approval, ApprovalDocument, ApprovalWithToken } from './record.js';
import { isApprover, toApproval } from './view.js';

export type ApprovalQuery = ListQuery & { status?: Approval['status'] | undefined };

/** Lists all approvals of the project with `svc:governance.read`, otherwise only those that the caller requested. */
export async function listApprovals(
  { approvals, approval_payloads }: Collections,
  principal: Principal,
  query: ApprovalQuery,
): Promise<Page<Approval>> {
  const { status } = query;
  const requester = holdsGrant(principal, 'svc:governance.read') ? {} : { requested_by: principal.userId };
  const page = await listPage(
    approvals,
    { project_id: principal.projectId, ...requester, ...(status && { status }) },
    query,
    'created_at',
  );
  const pending = page.data
    .filter((record) => record.status === 'pending' && isApprover(principal, record))
    .map(({ _id }) => _id);
  const kept =
    pending.length === 0
      ? []
      : await approval_payloads.find({ _id: { $in: pending } }, { projection: { _id: 1 } }).toArray();
  const withPayload = new Set(kept.map(({ _id }) => _id));
  return { ...page, data: page.data.map((record) => toApproval(record, principal, withPayload.has(record._id))) };
}

/** @throws AppError `not_found` for an unknown or malformed id, and for an approval that the caller cannot see */
export async function findApproval(
  { approvals }: Collections,
  principal: Principal,
  id: string,
): Promise<ApprovalDocument> {
  const record = isId(id) ? await approvals.findOne({ _id: id }) : null;
  const sees = holdsGrant(principal, 'svc:governance.read') || record?.requested_by === principal.userId;
  if (!record || record.project_id !== principal.projectId || !sees) throw notFound('approval');
  return record;
}

/** Adds the call if the caller may decide on it, and the resume token for the requester while it can be used. */
export async function readApproval(
  deps: PayloadDeps & { collections: Collections },
  principal: Principal,
  id: string,
): Promise<ApprovalWithToken> {
  const { collections, secrets } = deps;
  const record = await findApproval(collections, principal, id);
  const shown = record.status === 'pending' && isApprover(principal, record) ? [record] : [];
  const payload = (await readPayloads(deps, shown)).get(id);
  const view = { ...toApproval(record, principal, payload !== undefined), ...(payload !== undefined && { payload }) };
  // A run uses its approval without a token.
  const isMine = record.requested_by === principal.userId && record.execution_id === undefined;
  if (record.status !== 'approved' || !isMine) return view;
  const token = await collections.resume_tokens.findOne({ approval_id: id });
  if (!token || token.used_at !== null || token.expires_at <= epochSeconds()) return view;
  return {
    ...view,
    resume_token: secrets.open(token.sealed, sealedFor(id)),
    resume_token_expires_at: token.expires_at,
  };
}
