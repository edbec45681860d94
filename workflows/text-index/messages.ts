/** What the sweep uses to start a `textIndex` (decision 0026). */
export const textIndexType = 'textIndex';

/** One at a time for each project. */
export function textIndexWorkflowId(projectId: string): string {
  return `text-index/${projectId}`;
}

export interface TextIndexInput {
  project_id: string;
  organization_id: string;
}
