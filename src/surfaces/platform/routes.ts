import { z } from 'zod';
import type { Route } from '../rest/define-route.js';
import { actionRoutes } from './actions.js';
import { agentflowRoutes } from './agentflows.js';
import { analyticsRoutes } from './analytics.js';
import { connectorRoutes } from './connectors.js';
import { customerRoutes } from './customer.js';
import { dashboardRoutes } from './dashboards.js';
import { executionRoutes } from './executions.js';
import { fileRoutes } from './files.js';
import { inboxRoutes } from './inbox.js';
import { knowledgeBaseRoutes } from './knowledge-base.js';
import { marketplaceRoutes } from './marketplace.js';
import { memberRoutes } from './members.js';
import { projectEventRoutes } from './project-events.js';
import { projectRoutes } from './projects.js';
import { queueRoutes } from './queues.js';
import { settingsRoutes } from './settings.js';
import { syncRoutes } from './syncs.js';
import { scheduleRoutes } from './schedules.js';
import { skillRoutes } from './skills.js';
import { tableRoutes } from './tables.js';
import { tagRoutes } from './tags.js';
import { taskRoutes } from './tasks.js';

/** All routes of the platform API. Literal paths must precede paths with parameters. */
export const platformRoutes: readonly Route[] = [
  ...projectRoutes,
  ...memberRoutes,
  ...customerRoutes,
  ...settingsRoutes,
  ...agentflowRoutes,
  ...marketplaceRoutes,
  ...skillRoutes,
  ...actionRoutes,
  ...connectorRoutes,
  ...executionRoutes,
  ...projectEventRoutes,
  ...taskRoutes,
  ...inboxRoutes,
  ...tagRoutes,
  ...tableRoutes,
  ...scheduleRoutes,
  ...fileRoutes,
  ...knowledgeBaseRoutes,
  ...syncRoutes,
  ...queueRoutes,
  ...dashboardRoutes,
  ...analyticsRoutes,
].map(acceptProject);

/** A request may name its project in the query: it must be that of the credential (contract, Conventions). */
function acceptProject(route: Route): Route {
  const { operation, path, scope, query } = route;
  if (!operation || scope === 'organization' || path.includes('{projectID}')) return route;
  const fields = z.object({
    projectID: z.string().optional().meta({ description: "Defaults to the credential's project." }),
  });
  return { ...route, query: query ? (query as z.ZodObject).extend(fields.shape) : fields };
}
