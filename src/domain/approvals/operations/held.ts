import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import { requireDigest, requireNoPlaceholder, type Vote } from '../../../governance/approvals/decide.js';
import { readerOf, type Reader } from '../../../governance/approvals/view.js';
import type { Approval, ApprovalWithToken } from '../../../governance/approvals/record.js';
import { newId } from '../../../base/ids.js';
import { isJsonObject } from '../../../base/json.js';
import type { ListPosition, ListQuery, Page } from '../../../stores/lists.js';
import { epochSeconds } from '../../../base/time.js';
import type { Deps } from '../../deps.js';
import { decidePreview } from '../../executions/operations/preview.js';
import { findPreview, toPreviewApproval, waitingPreviews } from '../../executions/operations/preview-approvals.js';
import { previewNamed } from '../../executions/rules.js';
import { noteShaper } from '../../executions/operations/shaped-by.js';

/** An approval of a call, an act or a preview, with the call as its reader sees it. A preview has a title. */
export interface HeldCall<A extends Approval = Approval> {
  approval: A;
  title?: string;
  call?: unknown;
}

type Query = ListQuery & { status?: Approval['status'] | undefined };

/** Merges two lists with the same order: approvals, which have their own workflows, and previews of runs. */
export async function heldCalls(
  deps: Deps,
  principal: Principal,
  query: Query,
  reader: Reader = readerOf(principal),
): Promise<Page<ListPosition & { item: HeldCall }>[]> {
  const { status = 'pending' } = query;
  const [calls, previews] = await Promise.all([
    deps.governance.approvals.list(principal, query, reader),
    status === 'pending' ? waitingPreviews(deps, principal, query, reader) : undefined,
  ]);
  const data = calls.data.map((approval) => {
    return { at: approval.created_at, id: approval.approval_id, item: { approval } };
  });
  return [{ ...calls, data }, ...(previews ? [previews] : [])];
}

/** @throws AppError `not_found` for an unknown or malformed id, and for an approval that the caller cannot see */
export async function readHeld(
  deps: Deps,
  principal: Principal,
  id: string,
  reader: Reader = readerOf(principal),
): Promise<HeldCall<ApprovalWithToken>> {
  if (previewNamed(id)) {
    const { record, preview } = await findPreview(deps, principal, id);
    return toPreviewApproval(deps, record, preview, principal, { reader });
  }
  const approval = await deps.governance.approvals.readWithCall(principal, id, reader);
  return { approval, ...(approval.payload !== undefined && { call: approval.payload }) };
}

type HeldVote = Omit<Vote, 'edits'> & { edits?: Vote['edits'] | string };

/**
 * Decides an approval through the workflow that keeps it.
 * @throws AppError of `decidePreview` and of `decideApproval`
 */
export async function decideHeld(
  deps: Deps,
  principal: Principal,
  id: string,
  { edits, ...vote }: HeldVote,
  updateId: string | undefined,
  reader: Reader = readerOf(principal),
): Promise<HeldCall> {
  if (!previewNamed(id)) {
    if (typeof edits === 'string')
      throw new AppError('validation_failed', 'edits: must be an object with new values for fields of the call');
    if (edits !== undefined) await noteEditor(deps, principal, id);
    return { approval: await deps.governance.approvals.decide(principal, id, { ...vote, edits }, updateId, reader) };
  }
  const { record, preview } = await findPreview(deps, principal, id);
  // The decision shows no call, so it is no reading of one.
  const options = { reader, isExcerpt: true };
  const { approval } = await toPreviewApproval(deps, record, preview, principal, options);
  if (approval.status !== 'pending') throw new AppError('conflict', `the approval is ${approval.status}`);
  const { decision, comment, payload_digest } = vote;
  if (decision === 'accept')
    throw new AppError('conflict', 'only a call whose outcome is unknown can be accepted as done');
  if (payload_digest !== undefined && payload_digest !== approval.payload_digest)
    throw new AppError('conflict', 'the preview that waits has another `payload_digest`: read it again');
  requireDigest(approval, vote);
  requireNoPlaceholder(edits);
  const { agent_id, preview_id } = preview;
  const reason = comment && { reason: comment };
  await decidePreview(
    deps,
    principal,
    record._id,
    { agent_id, preview_id, decision, edits, ...reason },
    updateId ?? newId(),
  );
  const approved = isJsonObject(edits) || typeof edits === 'string' ? 'edited' : 'approved';
  const status = decision === 'reject' ? 'rejected' : approved;
  const decided = { status, decided_by: principal.userId, decided_at: epochSeconds() } as const;
  return toPreviewApproval(deps, record, { ...preview, ...decided, edits: edits ?? null }, principal, options);
}

async function noteEditor(deps: Deps, principal: Principal, id: string): Promise<void> {
  const { execution_id, may_decide } = await deps.governance.approvals.read(principal, id);
  if (execution_id !== null && may_decide) await noteShaper(deps.mongo.collections, principal, execution_id);
}
