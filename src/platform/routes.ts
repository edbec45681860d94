import type { Deps } from '../deps.js';
import type { Route } from '../http/define-route.js';
import { agentflowRoutes } from './resources/agentflows/routes.js';
import { connectorRoutes } from './resources/connectors.js';
import { customerRoutes } from './resources/customer.js';
import { executionRoutes } from './resources/executions/routes.js';
import { marketplaceRoutes } from './resources/marketplace/routes.js';
import { memberRoutes } from './resources/members.js';
import { projectRoutes } from './resources/projects.js';
import { skillRoutes } from './resources/skills.js';

/** The table of contents of the platform API; literal paths stand before those with parameters. */
export function platformRoutes(deps: Deps): Route[] {
  return [
    ...projectRoutes(deps),
    ...memberRoutes(deps),
    ...customerRoutes(deps),
    ...agentflowRoutes(deps),
    ...marketplaceRoutes(deps),
    ...skillRoutes(deps),
    ...connectorRoutes(deps),
    ...executionRoutes(deps),
  ];
}
