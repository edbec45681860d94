/** What the sweep uses to start an `embedding` (decision 0027). */
export const embeddingType = 'embedding';

/** One at a time for each project. */
export function embeddingWorkflowId(projectId: string): string {
  return `embedding/${projectId}`;
}

export interface EmbeddingTotals {
  embedded: number;
  unchanged: number;
  removed: number;
  refused: number;
}

export interface EmbeddingInput {
  project_id: string;
  organization_id: string;
  /** The run continues as new when its history has this many events, or when the server suggests it. */
  max_history_events: number;
  resumed?: { totals: EmbeddingTotals; failures: number };
}
