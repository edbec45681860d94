export interface NavigationEntry {
  /** The path relative to the project's URL; empty for Home. */
  path: string;
  name: string;
  /** The requirement for this page and the pages below it. Other people do not see the link, and the page says why. */
  needs?: Needs;
}

export interface Needs {
  /** The operation that the page requires, as `<method> <path>`. */
  operation: string;
  /** Explains which grant or roles allow the operation. */
  allowedBy: string;
}

const grant = (name: string) => `It requires the grant ${name}.`;
const readGrant = grant('svc:orchestrate.read');
/** The requirement of the forms below a page. */
export const writeGrant = grant('svc:orchestrate.write');
const administrators = 'It requires an administrator role: OWNER, ORG_ADMIN or PROJECT_ADMIN.';

/**
 * The pages of a project in the order of the navigation. To add a page, add a line here and a route to `router.tsx`.
 */
export const navigation: readonly { group: string; pages: readonly NavigationEntry[] }[] = [
  {
    group: 'Operate',
    pages: [
      { path: '', name: 'Home' },
      { path: 'runs', name: 'Runs', needs: { operation: 'get /{projectID}/execution_flows', allowedBy: readGrant } },
      { path: 'inbox', name: 'Inbox', needs: { operation: 'get /inbox', allowedBy: readGrant } },
      { path: 'agentflows', name: 'Agentflows', needs: { operation: 'get /agentflow', allowedBy: readGrant } },
      { path: 'schedules', name: 'Schedules', needs: { operation: 'get /schedule/coworker', allowedBy: readGrant } },
    ],
  },
  {
    group: 'Data',
    pages: [
      {
        path: 'context',
        name: 'Context',
        needs: { operation: 'post /v1/query-context', allowedBy: grant('svc:query.read') },
      },
      {
        path: 'connectors',
        name: 'Connectors',
        needs: { operation: 'get /connectors/{projectID}', allowedBy: readGrant },
      },
      { path: 'tables', name: 'Tables', needs: { operation: 'get /storage/{projectID}', allowedBy: readGrant } },
      {
        path: 'files',
        name: 'Knowledge and files',
        needs: { operation: 'get /file/{projectID}', allowedBy: readGrant },
      },
      { path: 'syncs', name: 'Syncs', needs: { operation: 'get /{projectID}/syncs', allowedBy: readGrant } },
    ],
  },
  {
    group: 'Govern',
    pages: [
      { path: 'approvals', name: 'Approvals' },
      { path: 'lifecycles', name: 'Lifecycles' },
      { path: 'policies', name: 'Policies', needs: { operation: 'get /v1/policies', allowedBy: administrators } },
      { path: 'audit', name: 'Audit', needs: { operation: 'get /v1/audit', allowedBy: administrators } },
    ],
  },
  {
    group: 'Project',
    pages: [
      {
        path: 'members',
        name: 'Members',
        needs: { operation: 'get /project-member/{projectID}', allowedBy: readGrant },
      },
      // Only administrators read policies, and only they manage keys.
      { path: 'keys', name: 'API keys', needs: { operation: 'get /v1/policies', allowedBy: administrators } },
      {
        path: 'settings',
        name: 'Settings',
        needs: { operation: 'get /v1/project/{project_id}', allowedBy: readGrant },
      },
      { path: 'apps', name: 'Connected apps' },
      { path: 'usage', name: 'Usage' },
    ],
  },
];
