import { readAnalytics } from '../../domain/analytics/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('analytics');

export const analyticsRoutes: readonly Route[] = [
  route('GET /analytics/{projectID}', readAnalytics, {
    summary: 'Read execution statistics for a time range',
    response: { description: 'Executions by creation time, with durations and credits.' },
  }),
];
