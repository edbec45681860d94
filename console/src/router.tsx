import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConsolePath } from '@service/surfaces/console/console-pages.js';
import { Frame } from './frame.js';
import { Problem } from './parts.js';
import { filterIn } from './runs/filter.js';
import { searchParamsIn, type SearchParams } from './search-params.js';
import { projectPath } from './session.js';
import { filterIn as rowFilterIn } from './tables/filter.js';

const root = createRootRoute({ component: Frame });

/** Creates the route of a page, below the URL of the project. */
const page = <const Path extends ConsolePath, Module, Search extends object = SearchParams<never>>(
  path: Path,
  load: () => Promise<Module>,
  name: keyof Module & string,
  validateSearch: (search: Record<string, unknown>) => Search = () => ({}) as Search,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, () => ReactNode>>, name),
    validateSearch,
  });

interface Place {
  params: Readonly<Record<string, string>>;
  search: SearchParams<'status'>;
}

/** Creates the route of an earlier address of a page. */
const moved = <const Path extends ConsolePath>(
  path: Path,
  place: (from: Place) => { to: '/inbox'; search: Record<string, string | undefined> },
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: searchParamsIn('status'),
    beforeLoad: ({ params, search }) => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- The router redirects by a thrown response.
      throw redirect({ ...place({ params: params, search }), replace: true });
    },
  });

const operate = [
  page('/', () => import('./home.js'), 'Home', searchParamsIn('since')),
  page('/dashboard', () => import('./dashboard/dashboard.js'), 'Dashboard'),
  page('/runs', () => import('./runs/runs.js'), 'Runs', filterIn),
  page('/runs/compare', () => import('./compare/compare.js'), 'CompareRuns', searchParamsIn('left', 'right')),
  page('/runs/$runId', () => import('./run/run.js'), 'Run', searchParamsIn('ask')),
  page('/inbox', () => import('./inbox/inbox.js'), 'Inbox', searchParamsIn('item', 'show', 'status', 'approval')),
  page('/agentflows', () => import('./agentflows/agentflows.js'), 'Agentflows', searchParamsIn('text')),
  page('/agentflows/new', () => import('./agentflows/agentflow-page.js'), 'NewAgentflow'),
  page(
    '/agentflows/$agentflowId',
    () => import('./agentflows/agentflow-page.js'),
    'AgentflowDetails',
    searchParamsIn('ask'),
  ),
  page('/schedules', () => import('./schedules/schedules.js'), 'Schedules'),
  page('/schedules/new', () => import('./schedules/schedule-form.js'), 'NewScheduleForm'),
  page('/schedules/$scheduleId', () => import('./schedules/schedule-page.js'), 'ScheduleDetails'),
  page('/schedules/$scheduleId/edit', () => import('./schedules/schedule-form.js'), 'EditScheduleForm'),
] as const;

const data = [
  page('/context', () => import('./context/context.js'), 'Context'),
  page('/ontology', () => import('./ontology/ontology.js'), 'OntologyPage'),
  page('/memories', () => import('./memories/memories.js'), 'Memories', searchParamsIn('status')),
  page('/connectors', () => import('./connectors/connectors.js'), 'Connectors', searchParamsIn('category', 'status')),
  page('/connectors/$connectorId', () => import('./connectors/connector.js'), 'Connector', searchParamsIn('run')),
  page('/tables', () => import('./tables/tables.js'), 'Tables', searchParamsIn('ask')),
  page('/tables/$tableId', () => import('./tables/table.js'), 'Table', rowFilterIn),
  page('/files', () => import('./files/files.js'), 'Files'),
  page('/tags', () => import('./tags/tags.js'), 'Tags'),
  page('/syncs', () => import('./syncs/syncs.js'), 'Syncs'),
] as const;

const auditFilters = searchParamsIn('actor', 'action', 'resource', 'outcome', 'lifecycle_id', 'since');
const govern = [
  moved('/approvals', ({ search }) => ({ to: '/inbox', search: { show: 'approvals', ...search } })),
  moved('/approvals/$approvalId', ({ params }) => ({ to: '/inbox', search: { approval: params.approvalId } })),
  page(
    '/lifecycles',
    () => import('./lifecycles/lifecycles.js'),
    'Lifecycles',
    searchParamsIn('tool', 'status', 'since'),
  ),
  page('/lifecycles/$lifecycleId', () => import('./lifecycles/lifecycle.js'), 'LifecyclePage'),
  page('/policies', () => import('./policies/policies.js'), 'Policies', searchParamsIn('ask')),
  page('/audit', () => import('./audit/audit.js'), 'Audit', auditFilters),
] as const;

const project = [
  page('/members', () => import('./members/members.js'), 'Members', searchParamsIn('ask')),
  page('/keys', () => import('./keys/keys.js'), 'Keys'),
  page('/settings', () => import('./settings/settings.js'), 'Settings'),
  page('/apps', () => import('./apps/apps.js'), 'Apps'),
  page('/usage', () => import('./usage/usage.js'), 'Usage', searchParamsIn('since')),
  page('/profile', () => import('./profile/profile.js'), 'Profile'),
] as const;

export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([...operate, ...data, ...govern, ...project]),
    basepath: projectPath,
    scrollRestoration: true,
    // A page of another record starts without the state of the previous one.
    defaultRemountDeps: ({ params }) => params,
    defaultErrorComponent: ({ error }) => (
      <>
        <h1>This page could not be shown</h1>
        <Problem error={error} />
      </>
    ),
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
