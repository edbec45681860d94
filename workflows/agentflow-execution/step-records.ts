import type { ExecutionState } from './messages.js';
import type { StepAttempt, StepRecord } from './step-record.js';
import { addEvent, beginAgent } from './state.js';
import type { BaseStep } from './steps/definition.js';
import { definitionOf, stepIdOf, type Step } from './steps/index.js';

export function beginStep(state: ExecutionState, step: Step, at: number): StepRecord {
  const { kind, agent, skill, action }: BaseStep = step;
  const definition = definitionOf(step);
  if (agent && definition.isAgentWork && !state.current) beginAgent(state, agent, at);
  const step_id = stepIdOf(step, state);
  const waiting = state.steps.findLast((one) => one.step_id === step_id && one.status === 'waiting');
  if (waiting) return continueStep(state, waiting, at);
  const record: StepRecord = {
    step_id,
    kind: definition.shownAs ?? kind,
    agent_id: agent?._id ?? '',
    skill_id: skill?._id ?? null,
    action_id: action?._id ?? null,
    name: definition.name(step),
    status: 'running',
    attempts: 0,
    started_at: at,
    ended_at: null,
    error: null,
  };
  state.steps.push(record);
  addEvent(state, 'step_started', at, { step_id: record.step_id, kind: record.kind, name: record.name });
  return record;
}

/** Continues the step after the decision on its act, or after a pause in which it has waited. */
function continueStep(state: ExecutionState, record: StepRecord, at: number): StepRecord {
  record.status = 'running';
  const approval_id = state.held?.approval_id;
  if (approval_id === undefined) addEvent(state, 'step_continued', at, { step_id: record.step_id });
  else addEvent(state, 'approval_settled', at, { step_id: record.step_id, approval_id });
  return record;
}

/** Records the edits of the approver with which the act of the step was performed. */
export function recordEdits(
  state: ExecutionState,
  record: StepRecord,
  edits: Record<string, unknown>,
  at: number,
): void {
  record.edited_fields = Object.keys(edits);
  addEvent(state, 'act_edited', at, { step_id: record.step_id, fields: record.edited_fields });
}

interface StepEnd {
  status: 'completed' | 'failed' | 'cancelled';
  attempts: number;
  at: number;
  error?: string;
  attempt_details?: StepAttempt[] | undefined;
}

export function endStep(state: ExecutionState, record: StepRecord, end: StepEnd): void {
  const { status, attempts, at, error = null, attempt_details } = end;
  Object.assign(record, { status, attempts, ended_at: at, error });
  if (attempt_details && (attempts > 1 || status === 'failed')) record.attempt_details = attempt_details;
  addEvent(state, `step_${status}`, at, { step_id: record.step_id, attempts, error });
}
