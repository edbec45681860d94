import { endApp, listApps } from '../../../domain/connected-apps/operations.js';
import { operationRoute, type Route } from '../../rest/define-route.js';

const tag = 'connected apps';

export const connectedAppRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/v1/connected-apps',
    operation: listApps,
    tag,
    summary: 'List connected apps',
    description: 'Lists your own apps in all projects. Ended and expired apps are not listed.',
    response: { description: 'Newest first.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/v1/connected-apps/{id}',
    operation: endApp,
    tag,
    summary: 'End a connected app',
    description:
      'Ends all its tokens at once. Allowed for the person who connected the app, and with `svc:governance.write` on its project.',
    response: { description: 'The app can no longer act.' },
  }),
];
