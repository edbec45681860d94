import type { ExecutionState } from '../messages.js';
import { action } from './action.js';
import { anomaly } from './anomaly.js';
import { ask } from './ask.js';
import { code } from './code.js';
import type { StepDefinition, StepRun } from './definition.js';
import { continueStep } from './continue.js';
import { divideItems } from './divide-items.js';
import { documents } from './documents.js';
import { goal } from './goal.js';
import { model } from './model.js';
import { output } from './output.js';
import { preview } from './preview.js';
import { readFlow } from './read-flow.js';
import { readSlice } from './read-slice.js';
import { startFlow } from './start-flow.js';
import { startSlice } from './start-slice.js';
import { tool } from './tool.js';
import type { PathState } from '../path-state.js';
import { idInPath } from '../paths.js';

/** All kinds of steps. A new kind needs its file, an entry here, its activity, and a place in `nextStep`. */
const definitions = [
  documents,
  goal,
  anomaly,
  continueStep,
  preview,
  action,
  tool,
  code,
  ask,
  startFlow,
  readFlow,
  divideItems,
  startSlice,
  readSlice,
  model,
  output,
] as const;

type Definition = (typeof definitions)[number];
export type Step = Parameters<Definition['name']>[0];

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
/** The activities of all kinds. */
export type StepActivities = Intersection<Parameters<Definition['run']>[0]>;

export const stepActivities = definitions.map(({ activity }) => activity);

/** The activities of kinds that can be light. */
export const lightActivities: readonly string[] = definitions
  .filter((definition) => 'isLight' in definition)
  .map(({ activity }) => activity);

const byKind: ReadonlyMap<string, Definition> = new Map(definitions.map((definition) => [definition.kind, definition]));

/** The cast is safe because a step is only ever passed to the definition of its own kind. */
export function definitionOf({ kind }: Step): StepDefinition<Step, StepActivities> {
  return byKind.get(kind) as unknown as StepDefinition<Step, StepActivities>;
}

export function profileOf({ profile }: StepDefinition<Step, StepActivities>, step: Step) {
  return typeof profile === 'function' ? profile(step) : profile;
}

/** What Temporal's UI shows of the activity of a step. */
export function summaryOf(step: Step, { path }: StepRun): string {
  return idInPath(path, definitionOf(step).name(step));
}

export function isStep(next: { kind: string }): next is Step {
  return byKind.has(next.kind);
}

/** `path/agent_id/step`: with the execution id in front, the idempotency key of the step's side effect. */
export function stepIdOf(
  step: Step,
  state: Pick<ExecutionState, 'failover'>,
  path: Pick<PathState, 'path' | 'call'>,
): string {
  return idInRun(state, idInPath(path, definitionOf(step).id(step)));
}

/** The second pass through the flow, after a failover, has its own ids. */
export function idInRun({ failover }: Pick<ExecutionState, 'failover'>, id: string): string {
  return failover ? `failover/${id}` : id;
}
