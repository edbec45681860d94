/** What a client or an operator needs of a `projectRemoval`. */
export const projectRemovalType = 'projectRemoval';

export function projectRemovalWorkflowId(projectId: string): string {
  return `project-removal/${projectId}`;
}

export interface ProjectRemovalInput {
  project_id: string;
  organization_id: string;
  /** Whose request it is; what still runs is cancelled in their name. */
  deleted_by: string;
}
