import type { Deps } from '../deps.js';
import type { Route } from '../http/define-route.js';
import { agentflowRoutes } from './resources/agentflows/routes.js';
import { analyticsRoutes } from './resources/analytics.js';
import { connectorRoutes } from './resources/connectors.js';
import { dashboardRoutes } from './resources/dashboards/routes.js';
import { executionRoutes } from './resources/executions/routes.js';
import { inboxRoutes, noPreviews } from './resources/inbox.js';
import { projectRoutes } from './resources/projects.js';
import { settingsRoutes } from './resources/settings.js';
import { skillRoutes } from './resources/skills.js';
import { tagRoutes } from './resources/tags.js';
import { taskRoutes } from './resources/tasks.js';

/** The table of contents of the platform API; literal paths stand before those with parameters. */
export function platformRoutes(deps: Deps): Route[] {
  return [
    ...projectRoutes(deps),
    ...agentflowRoutes(deps),
    ...skillRoutes(deps),
    ...connectorRoutes(deps),
    ...executionRoutes(deps),
    ...taskRoutes(deps),
    ...inboxRoutes(deps, { decidePreview: noPreviews }),
    ...tagRoutes(deps),
    ...settingsRoutes(deps),
    ...dashboardRoutes(deps),
    ...analyticsRoutes(deps),
  ];
}
