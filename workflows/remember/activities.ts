import type { MemoryEnd, RememberInput } from './messages.js';

/** The activities of a memory. All are safe to repeat. */
export interface RememberActivities {
  /** Asks the model about one part and stores what it found. */
  extractMemoryPart(part: { memory: RememberInput; part: number }): Promise<void>;
  /** Puts what was found into the inbox. `until` is in epoch seconds. */
  askForReview(review: { memory: RememberInput; asked_at: number; until: number }): Promise<void>;
  /** Writes one part into the graph, on behalf of the person who asked. */
  saveMemoryPart(part: { memory: RememberInput; part: number }): Promise<void>;
  finishMemory(end: {
    memory: RememberInput;
    status: MemoryEnd;
    failure: string | null;
    decided_by: string | null;
    ended_at: number;
  }): Promise<void>;
}
