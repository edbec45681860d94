import { isAdmin, type Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import { notFound } from '../../errors.js';
import { isId } from '../../ids.js';
import { listPage, type ListQuery, type Page } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import { sealedFor } from './resume-token.js';
import { approvalView, type Approval, type ApprovalDocument, type ApprovalWithToken } from './record.js';

/** Administrators see the approvals of the credential's project, everybody else those that they asked for. */
export async function listApprovals(
  { approvals }: Collections,
  principal: Principal,
  query: ListQuery & { status?: Approval['status'] | undefined },
): Promise<Page<Approval>> {
  const { status } = query;
  const mine = isAdmin(principal) ? {} : { requested_by: principal.userId };
  const page = await listPage(approvals, { project_id: principal.projectId, ...mine, ...(status && { status }) }, query);
  return { ...page, data: page.data.map(approvalView) };
}

/** @throws AppError `not_found` for an unknown or malformed id, and for an approval that the caller does not see */
export async function findApproval({ approvals }: Collections, principal: Principal, id: string): Promise<ApprovalDocument> {
  const record = isId(id) ? await approvals.findOne({ _id: id }) : null;
  const sees = isAdmin(principal) || record?.requested_by === principal.userId;
  if (!record || record.project_id !== principal.projectId || !sees) throw notFound('approval');
  return record;
}

/** With the resume token for the person who asked, while it can be used. */
export async function readApproval(
  { collections, secrets }: { collections: Collections; secrets: Pick<SecretBox, 'open'> },
  principal: Principal,
  id: string,
): Promise<ApprovalWithToken> {
  const record = await findApproval(collections, principal, id);
  const view = approvalView(record);
  if (record.status !== 'approved' || record.requested_by !== principal.userId) return view;
  const token = await collections.resume_tokens.findOne({ approval_id: id });
  if (!token || token.used_at !== null || token.expires_at <= epochSeconds()) return view;
  return { ...view, resume_token: secrets.open(token.sealed, sealedFor(id)), resume_token_expires_at: token.expires_at };
}
