import type { ValidatedCall } from '../call.js';

/** S7: a call with `dry_run` ends here with what it would do. */
export async function dryRun(call: ValidatedCall): Promise<Record<string, unknown>> {
  return { dry_run: true, would: await call.tool.dryRun(call.prepared, call.ctx) };
}
