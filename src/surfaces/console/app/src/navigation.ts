export interface NavigationEntry {
  /** The path relative to the project's URL; empty for Home. */
  path: string;
  name: string;
  /** The requirement for this page and the pages below it. Other people do not see the link, and the page says why. */
  needs?: Needs;
}

interface Needs {
  /** The operation that the page requires, as `<method> <path>`. */
  operation: string;
  /** Explains which grant or roles allow the operation. */
  allowedBy: string;
}

const grant = (name: string) => `It requires the grant ${name}.`;
const administrators = 'It requires an administrator role: OWNER, ORG_ADMIN or PROJECT_ADMIN.';
const toRead = (operation: string): Needs => ({ operation, allowedBy: grant('svc:orchestrate.read') });
const toWrite = (operation: string): Needs => ({ operation, allowedBy: grant('svc:orchestrate.write') });
const toAdminister = (operation: string): Needs => ({ operation, allowedBy: administrators });

/**
 * The pages of a project in the order of the navigation. To add a page, add a line here and a route to `router.tsx`.
 */
export const navigation: readonly { group: string; pages: readonly NavigationEntry[] }[] = [
  {
    group: 'Operate',
    pages: [
      { path: '', name: 'Home' },
      { path: 'runs', name: 'Runs', needs: toRead('get /{projectID}/execution_flows') },
      { path: 'inbox', name: 'Inbox', needs: toRead('get /inbox') },
      { path: 'agentflows', name: 'Agentflows', needs: toRead('get /agentflow') },
      { path: 'schedules', name: 'Schedules', needs: toRead('get /schedule/coworker') },
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
      { path: 'connectors', name: 'Connectors', needs: toRead('get /connectors/{projectID}') },
      { path: 'tables', name: 'Tables', needs: toRead('get /storage/{projectID}') },
      { path: 'files', name: 'Knowledge and files', needs: toRead('get /file/{projectID}') },
      { path: 'syncs', name: 'Syncs', needs: toRead('get /{projectID}/syncs') },
    ],
  },
  {
    group: 'Govern',
    pages: [
      { path: 'approvals', name: 'Approvals' },
      { path: 'lifecycles', name: 'Lifecycles' },
      { path: 'policies', name: 'Policies', needs: toAdminister('get /v1/policies') },
      { path: 'audit', name: 'Audit', needs: toAdminister('get /v1/audit') },
    ],
  },
  {
    group: 'Project',
    pages: [
      { path: 'members', name: 'Members', needs: toRead('get /project-member/{projectID}') },
      // Only administrators read policies, and only they manage keys.
      { path: 'keys', name: 'API keys', needs: toAdminister('get /v1/policies') },
      { path: 'settings', name: 'Settings', needs: toRead('get /v1/project/{project_id}') },
      { path: 'apps', name: 'Connected apps' },
      { path: 'usage', name: 'Usage' },
    ],
  },
];

/** The forms below a page, which require more than the page itself. */
export const forms: readonly NavigationEntry[] = [
  { path: 'agentflows/new', name: 'New agentflow', needs: toWrite('post /agentflow') },
  { path: 'schedules/new', name: 'New schedule', needs: toWrite('post /schedule/coworker') },
  { path: 'schedules/$scheduleId/edit', name: 'Edit schedule', needs: toWrite('patch /schedule/coworker/{id}') },
];
