import { defineCollection } from '../../stores/collections.js';
import type { TurnQueue } from './rules.js';

/** The runs of one agentflow that have a turn, and those that wait for one. `_id` is the id of the agentflow. */
export interface TurnQueueDocument extends TurnQueue {
  _id: string;
  /** Changes with every change of the runs. */
  revision: number;
  /** When the sweep looks at the queue again, in epoch seconds. Null while no run has a turn or waits for one. */
  next_at: number | null;
  /** How often the sweep has looked at it. */
  attempts?: number;
}

export const turnQueuesCollection = defineCollection('turn_queues', {
  indexes: [{ keys: { next_at: 1 } }],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    turn_queues: TurnQueueDocument;
  }
}
