import type { Push } from '../../../workflows/code-sync/messages.js';

export interface ReadPush {
  push: Push;
  commits: number;
  /** The JSON of the commits if they are too large for the start of a workflow. The push then contains no commits. */
  stored: Uint8Array | null;
}
