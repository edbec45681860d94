import { z } from 'zod';
import type { Route } from '../rest/define-route.js';
import type { TagTexts } from '../rest/openapi/tags.js';
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

/** The groups of the routes in the API reference, in page order. */
export const platformTags: TagTexts = {
  projects: 'Projects of an organization.',
  members: 'The people in a project and their roles.',
  customer: 'The plan, usage and credits of an organization.',
  settings: 'Settings of a project.',
  agentflows: 'Agents and the order in which they run, as drafts and promoted versions.',
  marketplace: 'Publish and hire agentflows.',
  skills: 'Skills of agents, composed of actions.',
  actions: 'Single calls to external systems, which skills combine.',
  connectors: 'Accounts at external providers. Secrets are stored encrypted and never returned.',
  executions: 'Runs of agentflows: prepare, start, follow, pause, decide, cancel, rerun.',
  tasks: 'Executions as tasks for people.',
  inbox: 'Previews and approvals that wait for a person.',
  syncs: 'What the data catalog and followed repositories write into the graph.',
  tags: 'Labels of a project.',
  tables: 'Tables of a project, with typed columns.',
  schedules: 'Runs at a given time, at an interval or on a calendar.',
  files: 'Files of a project, with streamed uploads and signed download links.',
  'knowledge base': 'Documents that a workflow reads into the context graph.',
  dashboards: 'Components that read the project with an aggregation pipeline.',
  analytics: 'Executions, durations and credits over a period.',
};

/** A request may name its project in the query: it must be that of the credential (contract, Conventions). */
function acceptProject(route: Route): Route {
  const { operation, path, scope, query } = route;
  if (!operation || scope === 'organization' || path.includes('{projectID}')) return route;
  const fields = z.object({
    projectID: z.string().optional().meta({ description: "Defaults to the credential's project." }),
  });
  return { ...route, query: query ? (query as z.ZodObject).extend(fields.shape) : fields };
}
