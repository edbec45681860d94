import { AppError, isAppError } from '../../errors.js';

/** Where the workflow service is what failed, the caller of a tool is told that the harness is unreachable (502). */
export async function onHarness<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAppError(error) && error.code === 'unavailable') throw new AppError('harness_unreachable', error.message, { cause: error });
    throw error;
  }
}
