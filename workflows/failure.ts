import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure } from '@temporalio/workflow';

/** What an activity or a child failed by, not its wrapper. */
export function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ? (error.cause ?? error) : error;
}

export function messageOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error ? cause.message : String(cause);
}

/** The code that the activities give a failure as its type; `otherwise` for a failure without one. */
export function failureOf(error: unknown, otherwise: string): { type: string; message: string } {
  const cause = causeOf(error);
  return { type: (cause instanceof ApplicationFailure ? cause.type : undefined) ?? otherwise, message: messageOf(error) };
}
