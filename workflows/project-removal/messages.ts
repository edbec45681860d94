/** What clients and operators use to work with a `projectRemoval`. */
export const projectRemovalType = 'projectRemoval';

export function projectRemovalWorkflowId(projectId: string): string {
  return `project-removal/${projectId}`;
}

export interface ProjectRemovalInput {
  project_id: string;
  organization_id: string;
  /** Who requested the deletion. Running executions are cancelled in their name. */
  deleted_by: string;
}
