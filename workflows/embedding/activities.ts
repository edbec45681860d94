import type { EmbeddingTotals } from './messages.js';

export interface EmbeddingSliceRequest {
  project_id: string;
  organization_id: string;
  /** The same for each attempt, so that repeats are charged once. */
  charge_key: string;
}

export interface EmbeddingSlice extends EmbeddingTotals {
  /** Nothing is left to do. */
  done: boolean;
}

/** All are safe to repeat. */
export interface EmbeddingActivities {
  /** Embeds some of the changed elements, or advances the generation of the project. */
  embedNext(request: EmbeddingSliceRequest): Promise<EmbeddingSlice>;
  /** Stores why embedding does not advance. */
  recordEmbeddingFailure(failure: { project_id: string; message: string }): Promise<void>;
}
