import { ApplicationFailure, condition, isCancellation } from '@temporalio/workflow';
import { historyIsFull } from '../../history.js';
import { epochSeconds, isoSeconds } from '../../time.js';
import { endsRun } from '../authority.js';
import { stepMessageOf } from '../failure.js';
import type { ExecutionState } from '../messages.js';
import type { PartResult, PathState } from '../path-state.js';
import { idInPath } from '../paths.js';
import { countKept } from '../run-step.js';
import { beginFlowStep, endStep } from '../step-records.js';
import { idInRun } from '../steps/index.js';
import type { FlowStepOf, InnerStep } from './flow-steps.js';
import { takeEvent } from './events.js';
import type { FlowEvent } from './received-events.js';
import type { FlowRun, FlowStepResult } from './flow-run.js';
import { runChild, stepsOfFlow } from './run-child.js';
import { inPlace, runMap, shown } from './run-map.js';
import { partsOf, runParts, type Stop } from './run-parts.js';
import { evaluateOn } from './values.js';

type EventOfStep = NonNullable<FlowStepOf<'wait'>['event']>;

/** The maximum number of records of steps that a run keeps. */
const maxSteps = 10_000;
/** The maximum number of evaluation steps of all expressions of a run, which take some seconds of a worker. */
const maxWork = 20_000_000;

type Runners = {
  [Type in InnerStep['type']]: (run: FlowRun, step: FlowStepOf<Type>) => FlowStepResult | Promise<FlowStepResult>;
};

/** What each type of step does. Those that run without waiting cost no round trip to Temporal. */
const runners: Runners = {
  set: (run, { values, next }) => ({
    output: Object.fromEntries(
      Object.entries(values).map(([name, text]) => [name, evaluateOn(run, { field: `values.${name}`, text })]),
    ),
    next,
  }),

  branch(run, { cases, otherwise }) {
    for (const { name, when, next } of cases) {
      if (when === undefined) continue;
      const isChosen = evaluateOn(run, { field: `cases.${name}.when`, text: when, type: 'bool' });
      if (isChosen === true) return { output: { case: name }, next };
    }
    return { output: { case: null }, next: otherwise };
  },

  async parallel(run, step) {
    const { branches, join, on_error, next } = step;
    const needed = join === 'all' ? branches.length : join === 'any' ? 1 : join.count;
    const succeeded = (ended: Record<string, PartResult>) =>
      Object.values(ended).filter((result) => 'output' in result).length;
    const stop = await runParts(inPlace(run, step), branches, {
      concurrency: branches.length,
      keepsErrors: on_error === 'collect',
      ...(join !== 'all' && { isEnough: (ended) => succeeded(ended) >= needed }),
    });
    if (stop === 'history is full') return undefined;
    const { ended } = partsOf(run.path);
    if (join !== 'all' && succeeded(ended) < needed) throw tooFew(succeeded(ended), needed, reasonsOf(branches, ended));
    const output = branches.flatMap(({ name }) => {
      const result = ended[name];
      return result ? [[name, shown(result)] as const] : [];
    });
    return { output: Object.fromEntries(output), next };
  },

  map: runMap,

  async loop(run, step) {
    const { state } = run;
    const { first, until, max_rounds, carry, next } = step;
    const parts = partsOf(run.path);
    parts.rounds ??= 0;
    parts.carry ??= null;
    for (; parts.rounds < max_rounds; parts.rounds += 1) {
      const name = String(parts.rounds);
      const names = { carry: parts.carry, index: parts.rounds };
      const isKept = state.kept_paths?.[`${idInPath(run.path, step._id)}/${name}`] !== undefined;
      let isDone: unknown;
      // Evaluated on the path of the round, which knows the outputs of the round.
      const runRound = async (path: PathState): Promise<Stop> => {
        if ((await run.runPath(path)) === 'history is full') return 'history is full';
        const on = { ...run, path, work: { steps: 0 } };
        isDone = evaluateOn(on, { field: 'until', text: until, type: 'bool' });
        if (carry !== null) parts.carry = evaluateOn(on, { field: 'carry', text: carry });
        if (isKept) await countKeptRound(run, on.work.steps);
        return 'done';
      };
      const place = { ...inPlace(run, step), runPath: runRound };
      const stop = await runParts(place, [{ name, first, names }], { concurrency: 1, keepsErrors: false });
      if (stop === 'history is full') return undefined;
      const ended = parts.ended[name];
      const output = ended ? shown(ended) : null;
      if (isDone === true) return { output: { output, rounds: parts.rounds + 1 }, next };
      parts.ended = {};
      if (carry === null) parts.carry = output;
    }
    const message = `the loop has run ${max_rounds} rounds, and \`until\` is not true: max_rounds is ${max_rounds}`;
    throw ApplicationFailure.nonRetryable(message, 'limit_exceeded');
  },

  async flow(run, step) {
    const result = await runChild(run, stepsOfFlow(step));
    return result && { ...result, next: step.next };
  },

  async wait(run, { _id, seconds, until, event, next }) {
    const { path, input, state } = run;
    if (path.waits_until === null && event?.deadline_seconds !== undefined)
      path.waits_until = after(event.deadline_seconds);
    else if (path.waits_until === null && until !== undefined)
      path.waits_until = { at: timeOf(run, until), is_fixed: true };
    else if (path.waits_until === null && seconds !== undefined) path.waits_until = after(seconds);
    const { waits_until: end } = path;
    for (;;) {
      const taken = event && takeEvent(state, (one) => isMeant(run, event, one));
      if (taken) {
        Object.assign(path, { waits_until: null, event: null });
        return { output: taken.data, next };
      }
      if (event) beginWaiting(run, _id, event);
      const seen = state.events?.count;
      const isInterrupted = () => state.status === 'paused' || historyIsFull(input);
      const isOver = () => isInterrupted() || state.events?.count !== seen;
      await run.untilQuiet();
      const left = end ? end.at - epochSeconds() : Infinity;
      const summary = event ? 'the deadline of the event' : 'the wait ends';
      if (left === Infinity) await condition(isOver);
      else if (left <= 0 || !(await condition(isOver, Math.ceil(left * 1000), { summary }))) break;
      if (isInterrupted()) return undefined;
    }
    Object.assign(path, { waits_until: null, event: null });
    if (!event) return { output: {}, next };
    throw ApplicationFailure.nonRetryable(`the event ${JSON.stringify(event.name)} did not come in time`, 'timeout');
  },
};

/** Runs a step of the flow to its end. Returns early if the run is paused, or has to continue as new. */
export async function runFlowStep(run: FlowRun, step: InnerStep): Promise<Stop | 'paused'> {
  const { input, state, path } = run;
  requireWithinLimits(state);
  const record = beginFlowStep(state, path, step, epochSeconds());
  const runner = runners[step.type] as (run: FlowRun, step: InnerStep) => FlowStepResult | Promise<FlowStepResult>;
  try {
    const result = await runner(run, step);
    if (!result) return historyIsFull(input) ? 'history is full' : 'paused';
    const { output, next, isCounted } = result;
    if (!isCounted) countKept(state, output, undefined);
    path.outputs[step._id] = output;
    record.output = output;
    Object.assign(path, { parts: null, record_at: null, last: step._id, next });
    endStep(state, record, { status: 'completed', attempts: 1, at: epochSeconds() });
    return 'done';
  } catch (error) {
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    const message = status === 'cancelled' ? status : stepMessageOf(error);
    endStep(state, record, { status, attempts: 1, at: epochSeconds(), error: message });
    if (status === 'failed') path.failed_step_id ??= record.step_id;
    throw error;
  }
}

/** @throws ApplicationFailure `limit_exceeded` that ends the run */
function requireWithinLimits({ steps, work = 0 }: ExecutionState): void {
  const exceed = (message: string) => ApplicationFailure.nonRetryable(message, 'limit_exceeded', endsRun);
  if (steps.length >= maxSteps) throw exceed(`a run can have at most ${maxSteps} steps`);
  if (work > maxWork) throw exceed(`the expressions of a run can take at most ${maxWork} evaluation steps`);
}

/** A round that a rerun keeps has no step that would count its work. */
async function countKeptRound({ state, countWork }: FlowRun, steps: number): Promise<void> {
  requireWithinLimits(state);
  await countWork(steps);
}

/** Why branches have failed, in the order of the branches. */
function reasonsOf(branches: readonly { name: string }[], ended: Record<string, PartResult>): string[] {
  return branches.flatMap(({ name }) => {
    const result = ended[name];
    return result && 'error' in result ? [`${name}: ${result.error.message}`] : [];
  });
}

function tooFew(succeeded: number, needed: number, reasons: readonly string[]): ApplicationFailure {
  const message = `${succeeded} of the ${needed} branches that are needed have succeeded; ${reasons.join('; ')}`;
  return ApplicationFailure.nonRetryable(message, 'validation_failed');
}

function after(seconds: number) {
  return { at: epochSeconds() + seconds, is_fixed: false };
}

/** People and lists see what the run waits for. */
function beginWaiting({ state, path, changed }: FlowRun, id: string, { name }: EventOfStep): void {
  if (path.event) return;
  path.event = { step_id: idInRun(state, idInPath(path, id)), name, requested_at: epochSeconds() };
  state.has_waited = true;
  changed();
}

function isMeant(run: FlowRun, { name, match }: EventOfStep, event: FlowEvent): boolean {
  if (event.step_id !== undefined) return event.step_id === run.path.event?.step_id;
  if (event.name !== name) return false;
  if (match === undefined) return true;
  const also = { event: event.data };
  // Each event has a work of its own, because a wait can see any number of events.
  return evaluateOn({ ...run, work: { steps: 0 } }, { field: 'event.match', text: match, type: 'bool', also }) === true;
}

/** In epoch seconds. @throws ApplicationFailure `validation_failed` */
function timeOf(run: FlowRun, text: string): number {
  const value = String(evaluateOn(run, { field: 'until', text, type: 'time' }));
  const at = run.input.reads_iso_times ? isoSeconds(value) : Date.parse(value) / 1000;
  if (!Number.isNaN(at)) return at;
  const message = `until: ${JSON.stringify(value)} is not a time in ISO 8601, such as "2026-07-01T09:30:00Z"`;
  throw ApplicationFailure.nonRetryable(message, 'validation_failed');
}
