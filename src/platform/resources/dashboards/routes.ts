import { z } from 'zod';
import type { Deps } from '../../../deps.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { Component, Dashboard, NewComponent } from './schemas.js';
import { addComponent, deleteComponent, readDashboard, refreshDashboard } from './store.js';

const tag = 'dashboards';
const params = z.object({ projectID: z.string() });
const query = z.object({ projectID: z.string().optional() });

/** Dashboards, one for each project (specification, Platform API; contract, dashboard). */
export function dashboardRoutes({ mongo }: Pick<Deps, 'mongo'>): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/dashboard/refresh/{projectID}',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Compute the data of every component anew',
      response: { schema: Dashboard, description: 'The dashboard. A component whose pipeline failed has no data and tells why in `error`.' },
      handler: ({ ctx }) => refreshDashboard(mongo, ctx.principal),
    }),
    defineRoute({
      method: 'get',
      path: '/dashboard/{projectID}',
      permission: 'svc:orchestrate.read',
      tag,
      params,
      query,
      summary: 'Read the dashboard as last refreshed',
      response: { schema: Dashboard, description: 'The dashboard; made with a task board when it is first read.' },
      handler: ({ ctx }) => readDashboard(mongo, ctx.principal),
    }),
    defineRoute({
      method: 'post',
      path: '/dashboard/{projectID}/component',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Add a component',
      description: 'Its pipeline is run at once, so that one that cannot run is refused here.',
      body: NewComponent,
      response: { status: 201, schema: Component, description: 'The component with its data.' },
      errors: ['not_found', 'validation_failed', 'conflict'],
      idempotent: true,
      handler: ({ ctx, body }) => addComponent(mongo, ctx.principal, body, ctx.recordId),
    }),
    defineRoute({
      method: 'delete',
      path: '/dashboard/{projectID}/component/{component_id}',
      permission: 'svc:orchestrate.write',
      tag,
      params: params.extend({ component_id: z.string() }),
      query,
      summary: 'Delete a component and its place in the layout',
      response: { schema: Component, description: 'The component as it was last.' },
      handler: ({ ctx, params: { component_id } }) => deleteComponent(mongo, ctx.principal, component_id),
    }),
  ];
}
