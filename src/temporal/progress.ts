/** The progress of an activity that a later attempt continues. */
export interface Progress<C> {
  /** Where to continue: the start, or what the previous attempt reached. */
  cursor: C;
  /** Saves the position, so that another worker can continue from it. */
  reached(cursor: C): void;
  /** Like `reached`, with the next regular heartbeat. */
  note(cursor: C): void;
  signal: AbortSignal;
}
