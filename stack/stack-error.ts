/** An error that the user can fix: one sentence, shown without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
