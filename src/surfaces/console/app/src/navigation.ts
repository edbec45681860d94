export interface NavigationEntry {
  /** The part of the address after the project's; empty for Home. */
  path: string;
  name: string;
  /** An operation without which the page shows nothing, as `<method> <path>`: without it the link is not offered. */
  operation?: string;
}

/** The pages of a project in the order of the navigation. A new page adds its line here and its route to `router.tsx`. */
export const navigation: readonly { group: string; pages: readonly NavigationEntry[] }[] = [
  {
    group: 'Operate',
    pages: [
      { path: '', name: 'Home' },
      { path: 'runs', name: 'Runs', operation: 'get /{projectID}/execution_flows' },
      { path: 'inbox', name: 'Inbox', operation: 'get /inbox' },
      { path: 'agentflows', name: 'Agentflows', operation: 'get /agentflow' },
      { path: 'schedules', name: 'Schedules', operation: 'get /schedule/coworker' },
    ],
  },
  {
    group: 'Data',
    pages: [
      { path: 'context', name: 'Context', operation: 'post /v1/query-context' },
      { path: 'connectors', name: 'Connectors', operation: 'get /connectors/{projectID}' },
      { path: 'tables', name: 'Tables', operation: 'get /storage/{projectID}' },
      { path: 'files', name: 'Knowledge and files', operation: 'get /file/{projectID}' },
      { path: 'syncs', name: 'Syncs', operation: 'get /{projectID}/syncs' },
    ],
  },
  {
    group: 'Govern',
    pages: [
      { path: 'approvals', name: 'Approvals' },
      { path: 'lifecycles', name: 'Lifecycles' },
      { path: 'policies', name: 'Policies', operation: 'get /v1/policies' },
      { path: 'audit', name: 'Audit', operation: 'get /v1/audit' },
    ],
  },
  {
    group: 'Project',
    pages: [
      { path: 'members', name: 'Members', operation: 'get /project-member/{projectID}' },
      // Administrators alone read policies, and alone manage keys.
      { path: 'keys', name: 'API keys', operation: 'get /v1/policies' },
      { path: 'settings', name: 'Settings', operation: 'get /v1/project/{project_id}' },
      { path: 'apps', name: 'Connected apps' },
      { path: 'usage', name: 'Usage' },
    ],
  },
];
