import { z } from 'zod';
import * as actions from '../../domain/actions/operations.js';
import * as agentflows from '../../domain/agentflows/operations.js';
import * as catalog from '../../domain/catalog/operations.js';
import * as connectors from '../../domain/connectors/operations.js';
import * as customers from '../../domain/customers/operations.js';
import * as dashboards from '../../domain/dashboards/operations.js';
import * as executions from '../../domain/executions/operations.js';
import * as files from '../../domain/files/operations.js';
import * as inbox from '../../domain/inbox/operations.js';
import * as knowledge from '../../domain/knowledge/operations.js';
import * as marketplace from '../../domain/marketplace/operations.js';
import * as mcpServers from '../../domain/mcp-servers/operations.js';
import * as invitations from '../../domain/invitations/operations.js';
import * as members from '../../domain/members/operations.js';
import * as projects from '../../domain/projects/operations.js';
import * as releases from '../../domain/releases/operations.js';
import * as schedules from '../../domain/schedules/operations.js';
import * as settings from '../../domain/settings/operations.js';
import * as skills from '../../domain/skills/operations.js';
import * as tables from '../../domain/tables/operations.js';
import * as tags from '../../domain/tags/operations.js';
import * as tasks from '../../domain/tasks/operations.js';
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
import { releaseRoutes } from './releases.js';
import { scheduleRoutes } from './schedules.js';
import { settingsRoutes } from './settings.js';
import { skillRoutes } from './skills.js';
import { syncRoutes } from './syncs.js';
import { tableRoutes } from './tables.js';
import { tagRoutes } from './tags.js';
import { taskRoutes } from './tasks.js';

interface Resource {
  routes: readonly Route[];
  /** What `operations.ts` of its domain folders exports: operations that rules can name, and collections. */
  domain?: readonly Readonly<Record<string, unknown>>[];
  /** The group of its routes in the API reference. */
  tags?: TagTexts;
}

/** The resources of the platform API in page order. Literal paths must precede paths with parameters. */
const resources: readonly Resource[] = [
  { routes: projectRoutes, domain: [projects], tags: { projects: 'Projects of an organization.' } },
  {
    routes: memberRoutes,
    domain: [members, invitations],
    tags: { members: 'The people in a project and their roles.' },
  },
  {
    routes: customerRoutes,
    domain: [customers],
    tags: { customer: 'The plan, usage and credits of an organization.' },
  },
  { routes: settingsRoutes, domain: [settings], tags: { settings: 'Settings of a project.' } },
  { routes: agentflowRoutes, domain: [agentflows], tags: { agentflows: 'Agents and the order in which they run.' } },
  {
    routes: releaseRoutes,
    domain: [releases],
    tags: { releases: 'Published versions of agentflows, and the channels that point to them.' },
  },
  { routes: marketplaceRoutes, domain: [marketplace], tags: { marketplace: 'Publish and hire agentflows.' } },
  { routes: skillRoutes, domain: [skills], tags: { skills: 'Skills of agents, composed of actions.' } },
  {
    routes: actionRoutes,
    domain: [actions],
    tags: { actions: 'Single calls to external systems, which skills combine.' },
  },
  {
    routes: connectorRoutes,
    domain: [connectors, mcpServers],
    tags: { connectors: 'Accounts at external providers. Secrets are stored encrypted and never returned.' },
  },
  {
    routes: [...executionRoutes, ...projectEventRoutes],
    domain: [executions],
    tags: { executions: 'Runs of agentflows: prepare, start, follow, pause, decide, cancel, rerun.' },
  },
  { routes: taskRoutes, domain: [tasks], tags: { tasks: 'Executions as tasks for people.' } },
  { routes: inboxRoutes, domain: [inbox], tags: { inbox: 'Previews and approvals that wait for a person.' } },
  { routes: tagRoutes, domain: [tags], tags: { tags: 'Labels of a project.' } },
  { routes: tableRoutes, domain: [tables], tags: { tables: 'Tables of a project, with typed columns.' } },
  {
    routes: scheduleRoutes,
    domain: [schedules],
    tags: { schedules: 'Runs at a given time, at an interval or on a calendar.' },
  },
  {
    routes: fileRoutes,
    domain: [files],
    tags: { files: 'Files of a project, with streamed uploads and signed download links.' },
  },
  {
    routes: knowledgeBaseRoutes,
    domain: [knowledge],
    tags: { 'knowledge base': 'Documents that a workflow reads into the context graph.' },
  },
  {
    routes: syncRoutes,
    domain: [catalog],
    tags: { syncs: 'What the data catalog and followed repositories write into the graph.' },
  },
  { routes: queueRoutes },
  {
    routes: dashboardRoutes,
    domain: [dashboards],
    tags: { dashboards: 'Components that read the project with an aggregation pipeline.' },
  },
  { routes: analyticsRoutes, tags: { analytics: 'Executions, durations and credits over a period.' } },
];

export const platformRoutes: readonly Route[] = resources.flatMap(({ routes }) => routes).map(acceptProject);

export const platformTags: TagTexts = Object.fromEntries(resources.flatMap(({ tags = {} }) => Object.entries(tags)));

export const platformExports: readonly unknown[] = resources
  .flatMap(({ domain = [] }) => domain)
  .flatMap(Object.values);

/** A request may name its project in the query: it must be that of the credential (contract, Conventions). */
function acceptProject(route: Route): Route {
  const { operation, path, scope, query } = route;
  if (!operation || scope === 'organization' || path.includes('{projectID}')) return route;
  const fields = z.object({ projectID: z.string().optional().describe("Defaults to the credential's project.") });
  return { ...route, query: query ? (query as z.ZodObject).extend(fields.shape) : fields };
}
