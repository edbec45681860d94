import type { Execution, Monitoring, Step } from '../api.js';

/** A run with its steps. */
export interface Side {
  run: Execution;
  steps: Monitoring;
}

/** A step of one run, with the step of the other run that has the same id. At least one of them is there. */
export interface StepPair {
  id: string;
  left: Step | undefined;
  right: Step | undefined;
  /** In what they differ, as far as the lists of the steps say. */
  differsIn: string[];
}

/** Aligns the steps of two runs by their ids: in the order of the left run, and each other step after what preceded it. */
export function alignedSteps(left: readonly Step[], right: readonly Step[]): StepPair[] {
  const onRight = new Map(right.map((step) => [step.step_id, step]));
  const onLeft = new Set(left.map(({ step_id }) => step_id));
  // The steps that only the right run has, by the common step that they follow.
  const following = new Map<string, Step[]>();
  let last = '';
  for (const step of right) {
    if (onLeft.has(step.step_id)) last = step.step_id;
    else following.set(last, [...(following.get(last) ?? []), step]);
  }
  const after = (id: string) => (following.get(id) ?? []).map((step) => pairOf(undefined, step));
  return [...after(''), ...left.flatMap((step) => [pairOf(step, onRight.get(step.step_id)), ...after(step.step_id)])];
}

function pairOf(left: Step | undefined, right: Step | undefined): StepPair {
  return { id: left?.step_id ?? right?.step_id ?? '', left, right, differsIn: differences(left, right) };
}

function differences(left: Step | undefined, right: Step | undefined): string[] {
  if (!left || !right) return [left ? 'only in the first run' : 'only in the second run'];
  return [
    ...(left.status === right.status ? [] : ['state']),
    ...(left.error === right.error ? [] : ['error']),
    ...(isSame(left.output, right.output) ? [] : ['output']),
    ...(left.attempts === right.attempts ? [] : ['attempts']),
  ];
}

/** An output of an agent in two runs, in one part of the flow. */
export interface OutputPair {
  id: string;
  title: string;
  path: string | undefined;
  left: unknown;
  right: unknown;
}

type Output = Execution['agents_output'][number];
const valueOf = (output: Output | undefined): unknown => output?.value ?? output?.output;

/** Aligns the outputs of the agents by agent, part of the flow and turn. */
export function alignedOutputs(left: readonly Output[], right: readonly Output[]): OutputPair[] {
  const [one, other] = [byPlace(left), byPlace(right)];
  return [...new Set([...one.keys(), ...other.keys()])].map((id) => {
    const [first, second] = [one.get(id), other.get(id)];
    const named = first ?? second;
    return {
      id,
      title: named?.title || (named?.agent_id ?? ''),
      path: named?.path,
      left: valueOf(first),
      right: valueOf(second),
    };
  });
}

/** An agent that answers several times in one part of a flow has a number. */
function byPlace(outputs: readonly Output[]): Map<string, Output> {
  const found = new Map<string, Output>();
  const counts = new Map<string, number>();
  for (const output of outputs) {
    const place = `${output.path ?? ''}/${output.agent_id}`;
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    found.set(`${place} ${count}`, output);
  }
  return found;
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
