/** What the person at the terminal can act on: one sentence, no stack trace needed. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
