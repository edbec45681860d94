import { Context } from '@temporalio/activity';
import type { StepResult } from '../workflows/agentflow-execution/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

/** The work of one step of an execution, whose result tells how many attempts it took. */
export async function asStep<T>(work: (signal: AbortSignal) => Promise<T>): Promise<StepResult<T>> {
  const value = await withHeartbeat(null, ({ signal }) => work(signal));
  return { value, attempts: Context.current().info.attempt };
}
