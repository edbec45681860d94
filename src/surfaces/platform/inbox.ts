import { listInbox, markRead, replyToItem } from '../../domain/inbox/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('inbox');

/** The items in a project that wait for a user (contract, inbox). */
export const inboxRoutes: readonly Route[] = [
  route('GET /inbox', listInbox, {
    summary: 'List the items that wait for a user, newest first',
    description:
      'Approvals of held calls and of previews, and whatever else waits, sorted by the time when each began to wait (`created_at`).',
    response: { description: 'One page of items.' },
  }),
  route('POST /inbox/{id}/read', markRead, {
    summary: 'Mark an item as read for the caller',
    response: { description: 'The item. `read_at` is the time of the first call.' },
  }),
  route('POST /inbox/{id}/reply', replyToItem, {
    summary: 'Decide the approval of an item, or answer it',
    description: 'Decides an approval like `POST /v1/approvals/{id}/approve`.',
    response: { description: 'The decided item. It stays `waiting` while a policy requires further approvers.' },
    idempotent: true,
  }),
];
