import { holdsGrant, type Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import { isId } from '../../base/ids.js';
import { listPage, type ListQuery, type Page } from '../../stores/lists.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import type { Audit } from '../audit/audit.js';
import { readOutlines, readPayloads, type PayloadDeps } from './payload.js';
import { auditReading, type Readings } from './readings.js';
import { findWithToken } from './earlier-records.js';
import { sealedFor } from './resume-token.js';
import type { Approval, ApprovalDocument, ApprovalWithToken } from './record.js';
import { mayReadCall, readerOf, toApproval, type Reader } from './view.js';

export type ApprovalQuery = ListQuery & { status?: Approval['status'] | undefined };

/** Lists all approvals of the project with `svc:governance.read`, otherwise only those that the caller requested. */
export async function listApprovals(
  deps: PayloadDeps & { collections: Collections },
  principal: Principal,
  query: ApprovalQuery,
  reader: Reader = readerOf(principal),
): Promise<Page<Approval>> {
  const { approvals } = deps.collections;
  const { status } = query;
  const requester = holdsGrant(principal, 'svc:governance.read') ? {} : { requested_by: principal.userId };
  const page = await listPage(
    approvals,
    { project_id: principal.projectId, ...requester, ...(status && { status }) },
    query,
    'created_at',
  );
  const outlines = await readOutlines(deps, page.data, principal.organizationId);
  return { ...page, data: page.data.map((record) => toApproval(record, principal, outlines.get(record._id), reader)) };
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

/** Adds the resume token for the requester while it can be used. */
export async function readApproval(
  deps: PayloadDeps & { collections: Collections },
  principal: Principal,
  id: string,
  reader: Reader = readerOf(principal),
): Promise<ApprovalWithToken> {
  const { collections, secrets } = deps;
  const record = await findApproval(collections, principal, id);
  const outlines = await readOutlines(deps, [record], principal.organizationId);
  const view = toApproval(record, principal, outlines.get(id), reader);
  // A run uses its approval without a token.
  const isMine = record.requested_by === principal.userId && record.execution_id === undefined;
  if (record.status !== 'approved' || !isMine) return view;
  const token = record.token ?? (await findWithToken(collections, { approvalId: id }))?.approval.token;
  if (!token || token.used_at !== null || token.expires_at <= epochSeconds()) return view;
  return {
    ...view,
    resume_token: secrets.open(token.sealed, sealedFor(id)),
    resume_token_expires_at: token.expires_at,
  };
}

export interface ReadCallDeps extends PayloadDeps {
  collections: Collections;
  audit: Pick<Audit, 'append'>;
  readings: Readings;
}

/** The approval with its call, for approvers and auditors. A person reads the whole call, which the audit chain records. */
export async function readApprovalWithCall(
  deps: ReadCallDeps,
  principal: Principal,
  id: string,
  reader: Reader = readerOf(principal),
): Promise<ApprovalWithToken> {
  const approval = await readApproval(deps, principal, id, reader);
  if (
    !approval.may_see_payload ||
    !mayReadCall(principal, { ...approval, approver_roles: approval.approver_roles ?? undefined })
  )
    return approval;
  const shown = { _id: id, edited_payload_digest: approval.edited_payload_digest };
  if (reader === 'person') await auditReading(deps, principal, id);
  const payload = (
    await readPayloads(deps, [shown], { seesWhole: reader === 'person', organizationId: principal.organizationId })
  ).get(id);
  return { ...approval, ...(payload !== undefined && { payload }) };
}
