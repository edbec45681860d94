/** What a page requires. Other people do not see its link, and the page says why. */
interface Needs {
  /** The operation that the page requires, as `<method> <path>`. */
  operation: string;
  /** Explains which roles allow the operation. */
  allowedBy: string;
}

export interface ConsolePage {
  /** The path after the address of the project, with parameters as the router writes them: `/runs/$runId`. */
  path: string;
  name: string;
  /** The group of the navigation that links to the page. The pages of one record and the forms have no link. */
  group?: 'Operate' | 'Data' | 'Govern' | 'Project';
  /** The page of one record requires what its list requires, if it has no requirement of its own. */
  needs?: Needs;
}

const administrators = 'It requires an administrator role: OWNER, ORG_ADMIN or PROJECT_ADMIN.';
const readers = 'It requires a role that reads the project: VIEWER, APPROVER, EDITOR or an administrator role.';
const editors = 'It requires the role EDITOR or an administrator role.';
const members = 'It requires a role in the project.';
const toRead = (operation: string): Needs => ({ operation, allowedBy: readers });
const toWrite = (operation: string): Needs => ({ operation, allowedBy: editors });
const toQuery = (operation: string): Needs => ({ operation, allowedBy: members });
const toAdminister = (operation: string): Needs => ({ operation, allowedBy: administrators });

/**
 * The only list of the pages of a project, in the order of the navigation. The server answers their addresses, and the
 * app links to them. To add a page, add a line here and its component in `console/src/router.tsx`.
 */
export const consolePages = [
  { path: '/', name: 'Home', group: 'Operate' },
  { path: '/dashboard', name: 'Dashboard', group: 'Operate', needs: toRead('get /dashboard/{projectID}') },
  { path: '/runs', name: 'Runs', group: 'Operate', needs: toRead('get /{projectID}/execution_flows') },
  { path: '/runs/compare', name: 'Compare runs' },
  { path: '/runs/$runId', name: 'Run' },
  // Everybody sees the approvals that they requested.
  { path: '/inbox', name: 'Inbox', group: 'Operate' },
  // Earlier addresses of views of the inbox.
  { path: '/approvals', name: 'Inbox' },
  { path: '/approvals/$approvalId', name: 'Inbox' },
  { path: '/agentflows', name: 'Agentflows', group: 'Operate', needs: toRead('get /agentflow') },
  { path: '/agentflows/new', name: 'New agentflow', needs: toWrite('post /agentflow') },
  { path: '/agentflows/$agentflowId', name: 'Agentflow' },
  { path: '/schedules', name: 'Schedules', group: 'Operate', needs: toRead('get /schedule/coworker') },
  { path: '/schedules/new', name: 'New schedule', needs: toWrite('post /schedule/coworker') },
  { path: '/schedules/$scheduleId', name: 'Schedule' },
  { path: '/schedules/$scheduleId/edit', name: 'Edit schedule', needs: toWrite('patch /schedule/coworker/{id}') },

  { path: '/context', name: 'Context', group: 'Data', needs: toQuery('post /v1/query-context') },
  { path: '/ontology', name: 'Ontology', group: 'Data', needs: toQuery('post /v1/ontology') },
  { path: '/memories', name: 'Memories', group: 'Data', needs: toQuery('get /v1/memories') },
  { path: '/connectors', name: 'Connectors', group: 'Data', needs: toRead('get /connectors/{projectID}') },
  { path: '/connectors/$connectorId', name: 'Connector' },
  { path: '/tables', name: 'Tables', group: 'Data', needs: toRead('get /storage/{projectID}') },
  { path: '/tables/$tableId', name: 'Table' },
  { path: '/files', name: 'Knowledge and files', group: 'Data', needs: toRead('get /file/{projectID}') },
  { path: '/tags', name: 'Tags', group: 'Data', needs: toRead('get /tag') },
  { path: '/syncs', name: 'Syncs', group: 'Data', needs: toRead('get /{projectID}/syncs') },

  { path: '/lifecycles', name: 'Lifecycles', group: 'Govern' },
  { path: '/lifecycles/$lifecycleId', name: 'Lifecycle' },
  { path: '/policies', name: 'Policies', group: 'Govern', needs: toRead('get /v1/policies') },
  { path: '/audit', name: 'Audit', group: 'Govern', needs: toRead('get /v1/audit') },

  { path: '/members', name: 'Members', group: 'Project', needs: toRead('get /project-member/{projectID}') },
  // Whoever manages members also manages keys.
  { path: '/keys', name: 'API keys', group: 'Project', needs: toAdminister('post /project-member/{projectID}') },
  { path: '/settings', name: 'Settings', group: 'Project', needs: toRead('get /v1/project/{project_id}') },
  { path: '/apps', name: 'Connected apps', group: 'Project' },
  { path: '/usage', name: 'Usage', group: 'Project' },
  // The header links to it.
  { path: '/profile', name: 'Your profile' },
] as const satisfies readonly ConsolePage[];

export type ConsolePath = (typeof consolePages)[number]['path'];
