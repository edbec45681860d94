/** An event that somebody sent to a run. */
export interface FlowEvent {
  /** The same when the event is sent again. */
  id: string;
  name: string;
  data: unknown;
  by: string;
  /** The step that it is for, whatever its `match` says. Absent: the first step that waits for it. */
  step_id?: string;
  /** Epoch seconds. */
  at: number;
}

/** The events that no step has taken yet, in order, and the ids of the last ones that arrived. */
export interface ReceivedEvents {
  waiting: FlowEvent[];
  ids: string[];
  /** Grows with each event. */
  count: number;
}
