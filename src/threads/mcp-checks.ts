import { isAppError } from '../base/errors.js';
import type { McpOutput, ToolSchema } from '../outbound/mcp-output.js';
import type { Threads } from './threads.js';

/** Limits one check in a thread, without the wait for the thread. */
const checkMs = 5000;

export type McpChecks = ReturnType<typeof createMcpChecks>;

/** Checks what MCP servers wrote in threads, because a server decides how long a check takes. */
export function createMcpChecks(threads: Threads) {
  /** Returns undefined if no thread was free: the server did nothing wrong. */
  async function orUnchecked<T>(check: Promise<T>, late: T): Promise<T | undefined> {
    return check.catch((error: unknown) => (isAppError(error) && error.code === 'unavailable' ? undefined : late));
  }
  return {
    /** Returns why a value does not match the output schema of its tool, or could not be checked within the limits. */
    problemOfOutput: (output: McpOutput, { owner }: { owner: string }): Promise<string | undefined> =>
      orUnchecked(
        threads.run('problemOfOutput', output, { owner, timeoutMs: checkMs }),
        `the structured content could not be checked against the output schema within ${checkMs / 1000} s`,
      ),
    /** Returns why each schema is invalid, by its position. An empty list if they could not be checked. */
    problemsOfSchemas: async (
      schemas: readonly ToolSchema[],
      { owner }: { owner: string },
    ): Promise<readonly (string | undefined)[]> =>
      (await orUnchecked(threads.run('problemsOfSchemas', schemas, { owner, timeoutMs: checkMs }), [])) ?? [],
  };
}
