import { readSettings, updateSettings } from '../../domain/settings/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'settings';

/** The settings of a project (specification, Platform API; contract, customer). */
export const settingsRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/settings/{projectID}',
    operation: readSettings,
    tag,
    summary: 'Read the settings of a project',
    response: { description: 'The settings. They are empty by default.' },
  }),
  operationRoute({
    method: 'patch',
    path: '/settings/{projectID}',
    operation: updateSettings,
    tag,
    summary: 'Change the given fields of the settings',
    response: { description: 'The changed settings. A given field replaces the previous value.' },
  }),
];
