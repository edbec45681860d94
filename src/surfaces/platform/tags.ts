import { createTag, deleteTag, listTags } from '../../domain/tags/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('tags');

/** The tags of a project (contract, inbox, tags). */
export const tagRoutes: readonly Route[] = [
  route('POST /tag', createTag, {
    summary: 'Create a tag',
    response: { status: 201, description: 'The stored tag.' },
    idempotent: true,
  }),
  route('GET /tag', listTags, { summary: 'List tags, newest first', response: { description: 'One page of tags.' } }),
  route('DELETE /tag/{id}', deleteTag, {
    summary: 'Delete a tag',
    response: { description: 'The last record. Its name can be reused.' },
  }),
];
