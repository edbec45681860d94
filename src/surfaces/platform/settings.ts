import { readSettings, updateSettings } from '../../domain/settings/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('settings');

/** The settings of a project (specification, Platform API; contract, customer). */
export const settingsRoutes: readonly Route[] = [
  route('GET /settings/{projectID}', readSettings, {
    summary: 'Read the settings of a project',
    response: { description: 'The settings. They are empty by default.' },
  }),
  route('PATCH /settings/{projectID}', updateSettings, {
    summary: 'Change the given fields of the settings',
    response: { description: 'The changed settings. A given field replaces the previous value.' },
  }),
];
