import type { ActivityFailure, ActivityOptions } from '@temporalio/workflow';
import type { ActionPlan, AgentflowExecutionInput, AgentPlan, ExecutionState, SkillPlan } from '../messages.js';
import type { Spending } from '../model-turn.js';
import type { PathState } from '../path-state.js';
import type { StepAttempt } from '../step-record.js';
import type { AwaitedApproval, Refused } from '../act-messages.js';

/** What a step returns, with the number of attempts that it took. */
export interface StepResult<T> {
  value: T;
  attempts: number;
  attempt_details?: StepAttempt[];
  /** The act waits for an approval; there is no value yet. */
  held?: AwaitedApproval;
  /** The act was refused; `value` is what the agent receives. */
  refused?: Refused;
  /** What an approver changed in the act that was performed. */
  edits?: Record<string, unknown>;
}

/** One unit of work, done by one activity. A killed worker repeats at most one step. */
export interface BaseStep {
  kind: string;
  /** What the step's record refers to. */
  agent?: AgentPlan;
  skill?: SkillPlan;
  action?: ActionPlan;
}

export interface StepRun {
  input: AgentflowExecutionInput;
  state: ExecutionState;
  /** Where in the flow the step is. */
  path: PathState;
  stepId: string;
  /** What an approver changed in the step's act; set when its result is kept. */
  edits?: Record<string, unknown>;
}

type ValueOf<Activities> = {
  [Name in keyof Activities]: Activities[Name] extends (request: never) => Promise<StepResult<infer T>> ? T : never;
}[keyof Activities];

/** Everything that the workflow knows about one kind of step. `Activities` has the activity that does the work. */
export interface StepDefinition<Step extends BaseStep, Activities> {
  kind: Step['kind'];
  /** The kind that records and events show, if it is not `kind`. */
  shownAs?: string;
  /** Whether the step belongs to its agent's work: the first such step starts the agent. */
  isAgentWork: boolean;
  /** Runs on the `steps` queue. */
  activity: keyof Activities & string;
  profile: ActivityOptions | ((step: Step) => ActivityOptions);
  /** Whether the step is likely to take milliseconds and may be repeated: it has no effect outside of the run. */
  isLight?: (step: Step, input: AgentflowExecutionInput) => boolean;
  /** What the step begins outlasts it. A cancel waits for the end of the step, which then tells what has to be ended. */
  beginsSomething?: true;
  /** The step is an act, for which people may be asked. A cancel ends it, and waits for its end, to know what has to be withdrawn. */
  isAct?: true;
  /** Unique in one pass through the flow and the same on every attempt: it is part of the idempotency key. */
  id: (step: Step) => string;
  name: (step: Step) => string;
  run: (activities: Activities, step: Step, run: StepRun) => Promise<StepResult<ValueOf<Activities>>>;
  /** Puts the result into the state. */
  keep: (value: ValueOf<Activities>, step: Step, run: StepRun) => void;
  /** What counts of the value towards the limits of the run. By default all of it. */
  counted?: (value: ValueOf<Activities>) => unknown;
  /** Whether a refused act ends the path. Otherwise the agent receives the refusal. */
  failsIfRefused?: (step: Step) => boolean;
  /** What the step cost, even if its result cannot be kept. */
  spent?: (value: ValueOf<Activities>) => Omit<Spending, 'key'>;
  /** Updates the state after a failure that does not end the run. Without it, a failure ends the run. */
  continueAfter?: (error: ActivityFailure, step: Step, run: StepRun) => void;
}

/** The same on every attempt of the step, and different for every step of every execution. */
export function idempotencyKey({ input, stepId }: StepRun): string {
  return `${input.execution_id}/${stepId}`;
}
