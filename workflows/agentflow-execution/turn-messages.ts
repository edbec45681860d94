import { defineSignal } from '@temporalio/workflow';

/** In the plan of a run whose agentflow limits how many of its runs go on at once (docs/decisions/0002). Other plans have none. */
export interface TurnPlan {
  /** The value of the concurrency key; null without a key. */
  key: string | null;
}

/** The turn of such a run. A run that has its turn keeps it until it ends. */
export interface RunTurn extends TurnPlan {
  is_given: boolean;
  /** The run is asking for its turn at the moment. */
  is_asking: boolean;
  /** Since when it waits, in epoch seconds. Null if it does not wait. */
  waiting_since: number | null;
  /** The run begins paused, because the one that waits for it is. Absent if it does not. */
  pause_asked?: { by?: string; reason?: string } | undefined;
}

/** Identifies a run to the queue of its agentflow. */
export interface TurnRequest extends TurnPlan {
  agentflow_id: string;
  execution_id: string;
}

/** Sent by the activity or the sweep that gives a waiting run its turn. It can be sent again. */
export const turnGivenSignal = defineSignal('turnGiven');
