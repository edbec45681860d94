import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Problem } from './parts.js';
import { Frame } from './frame.js';
import { filterIn, type RunFilter } from './runs/filter.js';
import { consolePath } from './session.js';
import { filterIn as rowFilterIn, type RowFilter } from './tables/filter.js';
import { searchParamsIn } from './search-params.js';

const root = createRootRoute({
  component: Frame,
  errorComponent: ({ error }) => (
    <main>
      <h1>This page could not be shown</h1>
      <Problem error={error} />
    </main>
  ),
});
const project = createRoute({ getParentRoute: () => root, path: '/projects/$projectId' });
const home = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyRouteComponent(() => import('./home.js'), 'Home'),
});
export const runsRoute = createRoute({
  getParentRoute: () => project,
  path: '/runs',
  validateSearch: (search: Record<string, unknown>): RunFilter => filterIn(search),
  component: lazyRouteComponent(() => import('./runs/runs.js'), 'Runs'),
});
export const runRoute = createRoute({
  getParentRoute: () => project,
  path: '/runs/$runId',
  validateSearch: searchParamsIn('ask'),
  component: lazyRouteComponent(() => import('./run/run.js'), 'Run'),
});
const inbox = createRoute({
  getParentRoute: () => project,
  path: '/inbox',
  component: lazyRouteComponent(() => import('./inbox/inbox.js'), 'Inbox'),
});
const connectors = createRoute({
  getParentRoute: () => project,
  path: '/connectors',
  validateSearch: searchParamsIn('category', 'status'),
  component: lazyRouteComponent(() => import('./connectors/connectors.js'), 'Connectors'),
});
const connector = createRoute({
  getParentRoute: () => project,
  path: '/connectors/$connectorId',
  component: lazyRouteComponent(() => import('./connectors/connector.js'), 'Connector'),
});
const tables = createRoute({
  getParentRoute: () => project,
  path: '/tables',
  validateSearch: searchParamsIn('ask'),
  component: lazyRouteComponent(() => import('./tables/tables.js'), 'Tables'),
});
const table = createRoute({
  getParentRoute: () => project,
  path: '/tables/$tableId',
  validateSearch: (search: Record<string, unknown>): RowFilter => rowFilterIn(search),
  component: lazyRouteComponent(() => import('./tables/table.js'), 'Table'),
});
const files = createRoute({
  getParentRoute: () => project,
  path: '/files',
  component: lazyRouteComponent(() => import('./files/files.js'), 'Files'),
});
const syncs = createRoute({
  getParentRoute: () => project,
  path: '/syncs',
  component: lazyRouteComponent(() => import('./syncs/syncs.js'), 'Syncs'),
});
const data = [connectors, connector, tables, table, files, syncs] as const;

const schedules = createRoute({
  getParentRoute: () => project,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./schedules/schedules.js'), 'Schedules'),
});
const newSchedule = createRoute({
  getParentRoute: () => project,
  path: '/schedules/new',
  component: lazyRouteComponent(() => import('./schedules/schedule-form.js'), 'NewScheduleForm'),
});
const schedule = createRoute({
  getParentRoute: () => project,
  path: '/schedules/$scheduleId',
  component: lazyRouteComponent(() => import('./schedules/schedule-page.js'), 'ScheduleDetails'),
});
const editSchedule = createRoute({
  getParentRoute: () => project,
  path: '/schedules/$scheduleId/edit',
  component: lazyRouteComponent(() => import('./schedules/schedule-form.js'), 'EditScheduleForm'),
});
const agentflows = createRoute({
  getParentRoute: () => project,
  path: '/agentflows',
  validateSearch: searchParamsIn('text'),
  component: lazyRouteComponent(() => import('./agentflows/agentflows.js'), 'Agentflows'),
});
const newAgentflow = createRoute({
  getParentRoute: () => project,
  path: '/agentflows/new',
  component: lazyRouteComponent(() => import('./agentflows/agentflow-page.js'), 'NewAgentflow'),
});
const agentflow = createRoute({
  getParentRoute: () => project,
  path: '/agentflows/$agentflowId',
  validateSearch: searchParamsIn('ask'),
  component: lazyRouteComponent(() => import('./agentflows/agentflow-page.js'), 'AgentflowDetails'),
});
const lifecycles = createRoute({
  getParentRoute: () => project,
  path: '/lifecycles',
  validateSearch: searchParamsIn('tool', 'status', 'since'),
  component: lazyRouteComponent(() => import('./lifecycles/lifecycles.js'), 'Lifecycles'),
});
const lifecycle = createRoute({
  getParentRoute: () => project,
  path: '/lifecycles/$lifecycleId',
  component: lazyRouteComponent(() => import('./lifecycles/lifecycle.js'), 'LifecyclePage'),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: '/audit',
  validateSearch: searchParamsIn('actor', 'action', 'resource', 'outcome', 'lifecycle_id', 'since'),
  component: lazyRouteComponent(() => import('./audit/audit.js'), 'Audit'),
});
const approvals = createRoute({
  getParentRoute: () => project,
  path: '/approvals',
  validateSearch: searchParamsIn('status'),
  component: lazyRouteComponent(() => import('./approvals/approvals.js'), 'Approvals'),
});
const approval = createRoute({
  getParentRoute: () => project,
  path: '/approvals/$approvalId',
  component: lazyRouteComponent(() => import('./approvals/approval.js'), 'ApprovalPage'),
});
const apps = createRoute({
  getParentRoute: () => project,
  path: '/apps',
  component: lazyRouteComponent(() => import('./apps/apps.js'), 'Apps'),
});
const usage = createRoute({
  getParentRoute: () => project,
  path: '/usage',
  component: lazyRouteComponent(() => import('./usage/usage.js'), 'Usage'),
});
const policies = createRoute({
  getParentRoute: () => project,
  path: '/policies',
  component: lazyRouteComponent(() => import('./policies/policies.js'), 'Policies'),
});
const members = createRoute({
  getParentRoute: () => project,
  path: '/members',
  validateSearch: searchParamsIn('ask'),
  component: lazyRouteComponent(() => import('./members/members.js'), 'Members'),
});
const keys = createRoute({
  getParentRoute: () => project,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys/keys.js'), 'Keys'),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings.js'), 'Settings'),
});
const context = createRoute({
  getParentRoute: () => project,
  path: '/context',
  component: lazyRouteComponent(() => import('./context/context.js'), 'Context'),
});
const flows = [schedules, newSchedule, schedule, editSchedule, agentflows, newAgentflow, agentflow] as const;
const governance = [
  context,
  members,
  keys,
  settings,
  policies,
  lifecycles,
  lifecycle,
  audit,
  approvals,
  approval,
  apps,
  usage,
] as const;

export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([
      project.addChildren([home, runsRoute, runRoute, inbox, ...data, ...flows, ...governance]),
    ]),
    basepath: consolePath,
    scrollRestoration: true,
    // The query string contains plain text, not JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
      const text = new URLSearchParams(entries as [string, string][]).toString();
      return text === '' ? '' : `?${text}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
