import { listMemories } from '../../../domain/memories/operations/list.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const route = routesOf('governance');

export const memoryRoutes: readonly Route[] = [
  route('GET /v1/memories', listMemories, {
    summary: 'List the remembered texts of the project',
    response: { description: 'Newest first, with status, counts, retries and cost.' },
  }),
];
