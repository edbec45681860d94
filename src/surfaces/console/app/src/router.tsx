import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Frame } from './frame.js';
import { Problem } from './parts.js';
import { filterIn } from './runs/filter.js';
import { searchParamsIn, type SearchParams } from './search-params.js';
import { projectPath } from './session.js';
import { filterIn as rowFilterIn } from './tables/filter.js';

const root = createRootRoute({
  component: Frame,
  errorComponent: ({ error }) => (
    <main>
      <h1>This page could not be shown</h1>
      <Problem error={error} />
    </main>
  ),
});

type Component = ReturnType<typeof lazyRouteComponent>;

/** Creates the route of a page, below the URL of the project. */
const page = <const Path extends string, Search extends object = SearchParams<never>>(
  path: Path,
  component: Component,
  validateSearch: (search: Record<string, unknown>) => Search = () => ({}) as Search,
) => createRoute({ getParentRoute: () => root, path, component, validateSearch });
const lazy = lazyRouteComponent;

const operate = [
  page(
    '/',
    lazy(() => import('./home.js'), 'Home'),
  ),
  page(
    '/runs',
    lazy(() => import('./runs/runs.js'), 'Runs'),
    filterIn,
  ),
  page(
    '/runs/$runId',
    lazy(() => import('./run/run.js'), 'Run'),
    searchParamsIn('ask'),
  ),
  page(
    '/inbox',
    lazy(() => import('./inbox/inbox.js'), 'Inbox'),
  ),
  page(
    '/agentflows',
    lazy(() => import('./agentflows/agentflows.js'), 'Agentflows'),
    searchParamsIn('text'),
  ),
  page(
    '/agentflows/new',
    lazy(() => import('./agentflows/agentflow-page.js'), 'NewAgentflow'),
  ),
  page(
    '/agentflows/$agentflowId',
    lazy(() => import('./agentflows/agentflow-page.js'), 'AgentflowDetails'),
    searchParamsIn('ask'),
  ),
  page(
    '/schedules',
    lazy(() => import('./schedules/schedules.js'), 'Schedules'),
  ),
  page(
    '/schedules/new',
    lazy(() => import('./schedules/schedule-form.js'), 'NewScheduleForm'),
  ),
  page(
    '/schedules/$scheduleId',
    lazy(() => import('./schedules/schedule-page.js'), 'ScheduleDetails'),
  ),
  page(
    '/schedules/$scheduleId/edit',
    lazy(() => import('./schedules/schedule-form.js'), 'EditScheduleForm'),
  ),
] as const;

const data = [
  page(
    '/context',
    lazy(() => import('./context/context.js'), 'Context'),
  ),
  page(
    '/connectors',
    lazy(() => import('./connectors/connectors.js'), 'Connectors'),
    searchParamsIn('category', 'status'),
  ),
  page(
    '/connectors/$connectorId',
    lazy(() => import('./connectors/connector.js'), 'Connector'),
  ),
  page(
    '/tables',
    lazy(() => import('./tables/tables.js'), 'Tables'),
    searchParamsIn('ask'),
  ),
  page(
    '/tables/$tableId',
    lazy(() => import('./tables/table.js'), 'Table'),
    rowFilterIn,
  ),
  page(
    '/files',
    lazy(() => import('./files/files.js'), 'Files'),
  ),
  page(
    '/syncs',
    lazy(() => import('./syncs/syncs.js'), 'Syncs'),
  ),
] as const;

const auditFilters = searchParamsIn('actor', 'action', 'resource', 'outcome', 'lifecycle_id', 'since');
const govern = [
  page(
    '/approvals',
    lazy(() => import('./approvals/approvals.js'), 'Approvals'),
    searchParamsIn('status'),
  ),
  page(
    '/approvals/$approvalId',
    lazy(() => import('./approvals/approval.js'), 'ApprovalPage'),
  ),
  page(
    '/lifecycles',
    lazy(() => import('./lifecycles/lifecycles.js'), 'Lifecycles'),
    searchParamsIn('tool', 'status', 'since'),
  ),
  page(
    '/lifecycles/$lifecycleId',
    lazy(() => import('./lifecycles/lifecycle.js'), 'LifecyclePage'),
  ),
  page(
    '/policies',
    lazy(() => import('./policies/policies.js'), 'Policies'),
  ),
  page(
    '/audit',
    lazy(() => import('./audit/audit.js'), 'Audit'),
    auditFilters,
  ),
] as const;

const project = [
  page(
    '/members',
    lazy(() => import('./members/members.js'), 'Members'),
    searchParamsIn('ask'),
  ),
  page(
    '/keys',
    lazy(() => import('./keys/keys.js'), 'Keys'),
  ),
  page(
    '/settings',
    lazy(() => import('./settings/settings.js'), 'Settings'),
  ),
  page(
    '/apps',
    lazy(() => import('./apps/apps.js'), 'Apps'),
  ),
  page(
    '/usage',
    lazy(() => import('./usage/usage.js'), 'Usage'),
  ),
] as const;

export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([...operate, ...data, ...govern, ...project]),
    basepath: projectPath,
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
