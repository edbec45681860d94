import { readQueues } from '../../domain/queues/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('operation');

export const queueRoutes: readonly Route[] = [
  route('GET /{projectID}/queues', readQueues, {
    summary: 'Read whether workers keep up with the work',
    description:
      'The queues serve every project of the deployment, so the answer is the same for all projects. An answer is up to five seconds old.',
    response: { description: 'The state of each task queue.' },
  }),
];
