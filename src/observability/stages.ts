import { isAppError } from '../base/errors.js';
import type { Metrics } from './metrics.js';
import type { Tracing } from './tracing.js';

/** Runs a stage of the governed pipeline and records it in metrics and traces. */
export type ObserveStage = <T>(tool: string, stage: string, work: () => Promise<T>) => Promise<T>;

export function createStageObserver({ metrics, tracing }: { metrics: Metrics; tracing: Tracing }): ObserveStage {
  return async (tool, stage, work) => {
    const began = performance.now();
    try {
      return await tracing.span(stage, { 'gateway.tool': tool }, work);
    } catch (error) {
      metrics.refusal({ tool, stage, code: isAppError(error) ? error.code : 'internal_error' });
      throw error;
    } finally {
      metrics.stage(tool, stage, (performance.now() - began) / 1000);
    }
  };
}
