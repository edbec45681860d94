import type { Deps } from '../deps.js';
import type { Route } from '../http/define-route.js';
import { actionRoutes } from './resources/actions.js';
import { agentflowRoutes } from './resources/agentflows/routes.js';
import { analyticsRoutes } from './resources/analytics.js';
import { connectorRoutes } from './resources/connectors/routes.js';
import { customerRoutes } from './resources/customer.js';
import { dashboardRoutes } from './resources/dashboards/routes.js';
import { executionRoutes } from './resources/executions/routes.js';
import { fileRoutes } from './resources/files/routes.js';
import { inboxRoutes } from './resources/inbox.js';
import { knowledgeBaseRoutes } from './resources/knowledge-base/routes.js';
import { marketplaceRoutes } from './resources/marketplace/routes.js';
import { memberRoutes } from './resources/members.js';
import { projectRoutes } from './resources/projects.js';
import { settingsRoutes } from './resources/settings.js';
import { scheduleRoutes } from './resources/schedules/routes.js';
import { skillRoutes } from './resources/skills.js';
import { tableRoutes } from './resources/tables/routes.js';
import { tagRoutes } from './resources/tags.js';
import { taskRoutes } from './resources/tasks.js';

/** The table of contents of the platform API; literal paths stand before those with parameters. */
export function platformRoutes(deps: Deps, baseUrl: () => string): Route[] {
  return [
    ...projectRoutes(deps),
    ...memberRoutes(deps),
    ...customerRoutes(deps),
    ...settingsRoutes(deps),
    ...agentflowRoutes(deps),
    ...marketplaceRoutes(deps),
    ...skillRoutes(deps),
    ...actionRoutes(deps),
    ...connectorRoutes(deps),
    ...executionRoutes(deps),
    ...taskRoutes(deps),
    ...inboxRoutes(deps),
    ...tagRoutes(deps),
    ...tableRoutes(deps),
    ...scheduleRoutes(deps),
    ...fileRoutes(deps, baseUrl),
    ...knowledgeBaseRoutes(deps, baseUrl),
    ...dashboardRoutes(deps),
    ...analyticsRoutes(deps),
  ];
}
