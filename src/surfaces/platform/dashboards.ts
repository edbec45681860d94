import { addComponent, deleteComponent, readDashboard, refreshDashboard } from '../../domain/dashboards/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('dashboards');

/** The dashboard of a project (specification, Platform API; contract, dashboard). */
export const dashboardRoutes: readonly Route[] = [
  route('POST /dashboard/refresh/{projectID}', refreshDashboard, {
    summary: 'Refresh the data of every component',
    response: {
      description: 'The dashboard. A component whose pipeline failed has no data, and the reason in `error`.',
    },
  }),
  route('GET /dashboard/{projectID}', readDashboard, {
    summary: 'Read the dashboard as last refreshed',
    response: { description: 'The dashboard. The first read creates it with a task board.' },
  }),
  route('POST /dashboard/{projectID}/component', addComponent, {
    summary: 'Add a component',
    description: 'Runs the pipeline immediately, and refuses a pipeline that fails.',
    response: { status: 201, description: 'The component with its data.' },
    idempotent: true,
  }),
  route('DELETE /dashboard/{projectID}/component/{component_id}', deleteComponent, {
    summary: 'Delete a component and its cell in the layout',
    response: { description: 'The last record.' },
  }),
];
