import { createTag, deleteTag, listTags } from '../../domain/tags/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'tags';

/** The tags of a project (contract, inbox, tags). */
export const tagRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/tag',
    operation: createTag,
    tag,
    summary: 'Create a tag',
    response: { status: 201, description: 'The stored tag.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'get',
    path: '/tag',
    operation: listTags,
    tag,
    summary: 'List tags, newest first',
    response: { description: 'One page of tags.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/tag/{id}',
    operation: deleteTag,
    tag,
    summary: 'Delete a tag',
    response: { description: 'The last record. Its name can be reused.' },
  }),
];
