import type { StepResult } from './steps/definition.js';

/** A light step of a batch: the activity that does its work, and what this gets. */
export interface LightRequest {
  activity: string;
  request: unknown;
}

/** How a light step of a batch has ended. `ms` is the time that it took, `characters` the length of its result as JSON. */
export type LightAnswer = { ms: number; characters: number } & (
  | { result: StepResult<unknown> }
  | { failure: LightFailure }
  /** It took longer than a batch may. */
  | { is_late: true }
  /** The batch had no time or no room for it, so it has not begun. */
  | { is_left: true }
);

/** The fields of the failure that the activity of the step throws. */
export interface LightFailure {
  type: string;
  message: string;
  nonRetryable: boolean;
  details: unknown[];
}

/** How long a batch may take: well below 8 s, after which the worker prolongs the workflow task (80 % of its time limit). */
export const batchMs = 1000;
/** No light step begins later than this after the start of its batch. */
export const beginMs = 250;
/** The maximum length of the requests and of the results of a batch in characters of JSON, if it has more than one step. */
export const maxBatchCharacters = 250_000;
