/** The slice on which a run of its own works. Its map has the place of the `map` in the run that started it. */
export interface SliceOfRun {
  /** The run that began the outermost `map`, and the one whose `map` this is. */
  root: string;
  of: string;
  /** The place of the step in the run that divides its items: `outer/3/each`. */
  place: string;
  step_id: string;
  from: number;
  items: unknown[];
  /** The tokens that the run had spent when the slice began. Absent in its record. */
  tokens_before?: number;
}
