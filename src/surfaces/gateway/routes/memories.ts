import { listMemories } from '../../../domain/memories/operations/list.js';
import { operationRoute, type Route } from '../../rest/define-route.js';

export const memoryRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/v1/memories',
    operation: listMemories,
    tag: 'governance',
    summary: 'List the remembered texts of the project',
    response: { description: 'Newest first, with status, counts, retries and cost.' },
  }),
];
