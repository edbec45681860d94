import type { Deps } from '../deps.js';
import type { Route } from '../http/define-route.js';
import { agentflowRoutes } from './resources/agentflows/routes.js';
import { connectorRoutes } from './resources/connectors.js';
import { executionRoutes } from './resources/executions/routes.js';
import { projectRoutes } from './resources/projects.js';
import { skillRoutes } from './resources/skills.js';
import { tableRoutes } from './resources/tables/routes.js';

/** The table of contents of the platform API; literal paths stand before those with parameters. */
export function platformRoutes(deps: Deps): Route[] {
  return [...projectRoutes(deps), ...agentflowRoutes(deps), ...skillRoutes(deps), ...connectorRoutes(deps), ...executionRoutes(deps), ...tableRoutes(deps)];
}
