import type { StepRecord } from '../../../workflows/agentflow-execution/step-record.js';

type Placed = Pick<StepRecord, 'agent_id' | 'step_id' | 'path'>;

/** The id of the step within its path, without the mark of a failover. */
export function placeOf({ step_id, path }: Placed): string {
  const own = step_id.replace(/^failover[/]/, '');
  return path === undefined ? own : own.slice(path.length + 1);
}

/** The agent or step of the flow that the record is about. */
export function nodeOf(step: Placed): string {
  return step.agent_id || (placeOf(step).split('/')[0] ?? '');
}

/** Whether the record is that of a step of the flow, and not of the work of an agent or of a `flow` step. */
export function isOfFlowStep(step: Placed): boolean {
  return placeOf(step) === nodeOf(step);
}
