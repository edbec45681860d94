import { AppError, isAppError } from '../../errors.js';
import type { ValidatedCall } from '../call.js';

export interface Executed {
  body: Record<string, unknown>;
  consumed: readonly string[];
}

/** S8: the tool does it. Where the workflow service is what failed, the caller is told that the harness is unreachable. */
export async function execute(call: ValidatedCall): Promise<Executed> {
  try {
    const { body, consumed = [] } = await call.tool.execute(call.prepared, call.ctx);
    return { body: body as Record<string, unknown>, consumed };
  } catch (error) {
    if (isAppError(error) && error.code === 'unavailable') throw new AppError('harness_unreachable', error.message, { cause: error });
    throw error;
  }
}
