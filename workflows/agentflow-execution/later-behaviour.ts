/**
 * What runs do since a release after 0.2.0. A field is absent in runs that began before, which do what they did then, so that their
 * histories replay. See docs/guides/operations.md.
 */
export interface LaterBehaviour {
  /** Calls of one turn that only read run at once. */
  reads_at_once?: true;
  /** These models write by rules: their turns are light steps, like others that are. Without it, no step is light. */
  light_steps?: { models: string[] };
  /** What a path has begun ends with it: other runs and questions. */
  leaves_nothing_open?: true;
  /** So do the acts of its steps that wait for people or are in progress. */
  ends_acts?: true;
  /** A pause of the run that waits for this one also holds it before its turn. */
  pauses_before_turn?: true;
  /** A `map` divides many items among runs of their own. */
  divides_items?: true;
  /**
   * A run gives way to others with a local activity, and wakes one path for a light step. Without it, its timers take up to a second,
   * and all paths wake.
   */
  yields_locally?: true;
  /** Light steps of several paths run as one batch. */
  batches_light_steps?: true;
  /** The text of a `wait` `until` is in ISO 8601. Without it, everything that JavaScript reads as a date is a time. */
  reads_iso_times?: true;
  /** The bytes that the record of the run has room for. Without it, they are not counted. */
  room_in_record?: number;
}
