import type { ActAwaitingApproval } from './act-messages.js';
import type { ExecutionState } from './messages.js';
import type { StepAttempt, StepRecord } from './step-record.js';
import type { FlowStep } from './flow/flow-steps.js';
import type { PathState } from './path-state.js';
import { agentAtWork, idInPath } from './paths.js';
import { addEvent, beginAgent, shownPath } from './state.js';
import type { BaseStep } from './steps/definition.js';
import { definitionOf, idInRun, stepIdOf, type Step } from './steps/index.js';

export function beginStep(state: ExecutionState, path: PathState, step: Step, at: number): StepRecord {
  const { kind, agent, skill, action }: BaseStep = step;
  const definition = definitionOf(step);
  if (agent && definition.isAgentWork && !agentAtWork(state, path)) beginAgent(state, path, agent, at);
  const step_id = stepIdOf(step, state, path);
  const waiting = state.steps.findLast((one) => one.step_id === step_id && one.status === 'waiting');
  if (waiting) return continueStep(state, path, waiting, at);
  const record = newRecord(path, {
    step_id,
    kind: definition.shownAs ?? kind,
    agent_id: agent?._id ?? '',
    skill_id: skill?._id ?? null,
    action_id: action?._id ?? null,
    name: definition.name(step),
    started_at: at,
  });
  addRecord(state, record);
  return record;
}

type NewRecord = Pick<StepRecord, 'step_id' | 'kind' | 'agent_id' | 'skill_id' | 'action_id' | 'name' | 'started_at'>;

function newRecord(path: PathState, fields: NewRecord): StepRecord {
  const blank = { status: 'running', attempts: 0, ended_at: null, error: null } as const;
  return { ...fields, ...shownPath(path), ...blank };
}

function addRecord(state: ExecutionState, record: StepRecord): void {
  state.steps.push(record);
  const { step_id, kind, name, path } = record;
  addEvent(state, 'step_started', record.started_at, { step_id, kind, name, ...(path !== undefined && { path }) });
}

/** The record of a step of the flow that is not an agent. A step that continues after a wait has its earlier one. */
export function beginFlowStep(
  state: ExecutionState,
  path: PathState,
  { _id, type, title }: Pick<FlowStep, '_id' | 'type' | 'title'>,
  at: number,
): StepRecord {
  const open = path.record_at === null ? undefined : state.steps[path.record_at];
  if (open) return open;
  const step_id = idInRun(state, idInPath(path, _id));
  const of = { agent_id: '', skill_id: null, action_id: null };
  const record = newRecord(path, { step_id, kind: type, ...of, name: title || _id, started_at: at });
  path.record_at = state.steps.length;
  addRecord(state, record);
  return record;
}

/** Continues the step after the decision on its act, or after a pause in which it has waited. */
function continueStep(state: ExecutionState, path: PathState, record: StepRecord, at: number): StepRecord {
  record.status = 'running';
  const approval_id = path.held?.approval_id;
  if (approval_id === undefined) addEvent(state, 'step_continued', at, { step_id: record.step_id });
  else if (path.held?.is_question) continueQuestion(state, path.held, record, at);
  else addEvent(state, 'approval_settled', at, { step_id: record.step_id, approval_id });
  return record;
}

/** Only the end of a question is an event: the step also runs again after a pause. */
function continueQuestion(
  state: ExecutionState,
  { approval_id: question_id, answer, expires_at }: ActAwaitingApproval,
  { step_id }: StepRecord,
  at: number,
): void {
  if (answer || at >= expires_at)
    addEvent(state, 'question_settled', at, { step_id, question_id, by: answer?.by ?? null });
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
