import { readAnalytics } from '../../domain/analytics/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

export const analyticsRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/analytics/{projectID}',
    operation: readAnalytics,
    tag: 'analytics',
    summary: 'Read execution statistics for a time range',
    response: { description: 'Executions by creation time, with durations and credits.' },
  }),
];
