import { useState } from 'react';
import type { Approval, FullApproval, InboxItem, MemoryReview } from '../api.js';
import { fieldsOf } from '../fields-of.js';

/** What a person decides: an item of the inbox, with what they read of it. */
export interface Subject {
  item: InboxItem;
  /** With the whole call, which the item shortens. Undefined until it is read, and for other items. */
  approval?: FullApproval | undefined;
  /** Undefined until it is read, and for other items. */
  review?: MemoryReview | undefined;
}

const statusOf = {
  pending: 'waiting',
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  used: 'approved',
} as const satisfies Record<Approval['status'], InboxItem['status']>;

/** Returns the item of an approval, which may have been decided. */
export function itemOf({ payload: _call, ...approval }: FullApproval): InboxItem {
  const { approval_id, summary, execution_id, created_at, expires_at, may_decide, may_not_decide_reason } = approval;
  return {
    _id: `approval:${approval_id}`,
    kind: 'approval',
    title: summary,
    body: approval,
    ...{ execution_id, approval_id, created_at, expires_at, may_decide, may_not_decide_reason },
    read_at: null,
    status: statusOf[approval.status],
  };
}

/** The call of an item as far as it is known. Only approvals have one. */
export function callOf({ item, approval }: Subject): unknown {
  return approval?.payload ?? (item.kind === 'approval' ? item.body.call : undefined);
}

interface Preview {
  goal: string;
  proposed: unknown;
}

/** Returns the call of a preview; undefined for any other item. */
export function previewOf(subject: Subject): Preview | undefined {
  const { item } = subject;
  if (item.kind !== 'approval' || item.body.tool !== 'execution.preview') return undefined;
  const { goal, proposed } = fieldsOf(callOf(subject));
  return typeof goal === 'string' ? { goal, proposed } : undefined;
}

/** Returns the goal of the waiting run; undefined if the item belongs to no run or the person may not see the call. */
export function goalOf(item: InboxItem): string | undefined {
  const { goal, about } = fieldsOf(callOf({ item }));
  const found = goal ?? fieldsOf(about).goal;
  return typeof found === 'string' ? found : undefined;
}

/** The digest of the call or review that the person reads; undefined for an item without one. */
export function digestOf({ item, approval, review }: Subject): string | undefined {
  if (item.kind === 'memory') return review?.payload_digest;
  if (item.kind !== 'approval') return undefined;
  const { edited_payload_digest, payload_digest } = approval ?? item.body;
  return edited_payload_digest ?? payload_digest;
}

/** Whether everything is read on which the person decides. */
const isWhole = ({ item, approval, review }: Subject) =>
  item.kind === 'approval' ? approval !== undefined : item.kind !== 'memory' || review !== undefined;

/**
 * Keeps what the person reads: a call that changes meanwhile is shown only when they ask for it, so that nobody decides
 * on a text that they have not read.
 */
export function useSeen(current: Subject) {
  const [seen, setSeen] = useState<Subject>();
  if (seen === undefined && isWhole(current)) setSeen(current);
  const isChanged =
    seen !== undefined && current.item.may_decide && isWhole(current) && digestOf(seen) !== digestOf(current);
  return { subject: isChanged ? seen : current, isChanged, showChanged: () => setSeen(current) };
}
