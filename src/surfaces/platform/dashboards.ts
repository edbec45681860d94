import { addComponent, deleteComponent, readDashboard, refreshDashboard } from '../../domain/dashboards/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'dashboards';

/** The dashboard of a project (specification, Platform API; contract, dashboard). */
export const dashboardRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/dashboard/refresh/{projectID}',
    operation: refreshDashboard,
    tag,
    summary: 'Refresh the data of every component',
    response: {
      description: 'The dashboard. A component whose pipeline failed has no data, and the reason in `error`.',
    },
  }),
  operationRoute({
    method: 'get',
    path: '/dashboard/{projectID}',
    operation: readDashboard,
    tag,
    summary: 'Read the dashboard as last refreshed',
    response: { description: 'The dashboard. The first read creates it with a task board.' },
  }),
  operationRoute({
    method: 'post',
    path: '/dashboard/{projectID}/component',
    operation: addComponent,
    tag,
    summary: 'Add a component',
    description: 'Runs the pipeline immediately, and refuses a pipeline that fails.',
    response: { status: 201, description: 'The component with its data.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'delete',
    path: '/dashboard/{projectID}/component/{component_id}',
    operation: deleteComponent,
    tag,
    summary: 'Delete a component and its cell in the layout',
    response: { description: 'The last record.' },
  }),
];
