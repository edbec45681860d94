import type { ValidatedCall } from '../call.js';
import { onHarness } from './harness.js';

export interface Executed {
  body: Record<string, unknown>;
  consumed: readonly string[];
}

/** S8: the tool does it. */
export async function execute({ tool, prepared, ctx }: ValidatedCall): Promise<Executed> {
  const { body, consumed = [] } = await onHarness(() => tool.execute(prepared, ctx));
  return { body: body as Record<string, unknown>, consumed };
}
