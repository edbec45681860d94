import type { Deps } from '../deps.js';
import type { Route } from '../http/define-route.js';
import { actionRoutes } from './resources/actions.js';
import { agentflowRoutes } from './resources/agentflows/routes.js';
import { connectorRoutes } from './resources/connectors/routes.js';
import { executionRoutes } from './resources/executions/routes.js';
import { fileRoutes } from './resources/files/routes.js';
import { knowledgeBaseRoutes } from './resources/knowledge-base/routes.js';
import { projectRoutes } from './resources/projects.js';
import { scheduleRoutes } from './resources/schedules/routes.js';
import { skillRoutes } from './resources/skills.js';

/** The table of contents of the platform API; literal paths stand before those with parameters. */
export function platformRoutes(deps: Deps, baseUrl: () => string): Route[] {
  return [
    ...projectRoutes(deps),
    ...agentflowRoutes(deps),
    ...skillRoutes(deps),
    ...actionRoutes(deps),
    ...connectorRoutes(deps),
    ...executionRoutes(deps),
    ...scheduleRoutes(deps),
    ...fileRoutes(deps, baseUrl),
    ...knowledgeBaseRoutes(deps, baseUrl),
  ];
}
