/** The progress of an activity that a later attempt continues. */
export interface Progress<C> {
  /** The position to continue from: the start, or the position that the previous attempt saved. */
  cursor: C;
  /** Saves the position, so that another worker can continue from it. */
  reached(cursor: C): void;
  /** Saves the position with the next regular heartbeat. */
  note(cursor: C): void;
  signal: AbortSignal;
}
