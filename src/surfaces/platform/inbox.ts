import { listInbox, markRead, replyToItem } from '../../domain/inbox/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'inbox';

/** The items in a project that wait for a user (contract, inbox). */
export const inboxRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/inbox',
    operation: listInbox,
    tag,
    summary: 'List the items that wait for a user, newest first',
    description:
      'Approvals of held calls and of previews, and whatever else waits, sorted by the time when each began to wait (`created_at`).',
    response: { description: 'One page of items.' },
  }),
  operationRoute({
    method: 'post',
    path: '/inbox/{id}/read',
    operation: markRead,
    tag,
    summary: 'Mark an item as read for the caller',
    response: { description: 'The item. `read_at` is the time of the first call.' },
  }),
  operationRoute({
    method: 'post',
    path: '/inbox/{id}/reply',
    operation: replyToItem,
    tag,
    summary: 'Decide the approval of an item, or answer it',
    description: 'Decides an approval like `POST /v1/approvals/{id}/approve`.',
    response: { description: 'The decided item. It stays `waiting` while a policy requires further approvers.' },
    idempotent: true,
  }),
];
