import { disconnectApp, listApps } from '../../../domain/connected-apps/operations.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const route = routesOf('connected apps');

export const connectedAppRoutes: readonly Route[] = [
  route('GET /v1/connected-apps', listApps, {
    summary: 'List connected apps',
    description: 'Lists your own apps in all projects. Ended and expired apps are not listed.',
    response: { description: 'Newest first.' },
  }),
  route('DELETE /v1/connected-apps/{id}', disconnectApp, {
    summary: 'End a connected app',
    description:
      'Ends all its tokens at once. Allowed for the person who connected the app, and with `svc:governance.write` on its project.',
    response: { description: 'The app can no longer act.' },
  }),
];
