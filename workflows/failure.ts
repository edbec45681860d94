import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure } from '@temporalio/workflow';

/** The error in the activity or child workflow, without the SDK's wrapper. */
export function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ? (error.cause ?? error) : error;
}

export function messageOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error ? cause.message : String(cause);
}

/** The code that activities set as the failure's type, or `otherwise` if there is none. */
export function failureOf(error: unknown, otherwise: string): { type: string; message: string } {
  const cause = causeOf(error);
  return {
    type: (cause instanceof ApplicationFailure ? cause.type : undefined) ?? otherwise,
    message: messageOf(error),
  };
}

/** The wait that the failed activity requested, in milliseconds. */
export function requestedWaitMs(error: unknown): number {
  const cause = causeOf(error);
  const requested: unknown = cause instanceof ApplicationFailure ? cause.nextRetryDelay : undefined;
  return typeof requested === 'number' ? requested : 0;
}
