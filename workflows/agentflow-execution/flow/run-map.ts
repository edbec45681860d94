import { ApplicationFailure } from '@temporalio/workflow';
import type { PartResult, Slice } from '../path-state.js';
import { idInPath } from '../paths.js';
import { runStep } from '../run-step.js';
import type { ItemsSource } from '../steps/divide-items.js';
import { idInRun } from '../steps/index.js';
import type { FlowRun, FlowStepResult } from './flow-run.js';
import type { FlowStepOf, InnerStep } from './flow-steps.js';
import { maxItems, maxItemsOfRun, maxItemsWithEvents } from './map-step.js';
import { partsOf, runParts, type Part, type Stop } from './run-parts.js';
import { maxSlicesAtOnce } from './run-slice.js';
import { evaluateOn } from './values.js';

type MapStep = FlowStepOf<'map'>;

/**
 * Works on few items in this run, and divides many among runs of their own, which are its slices. Awaits nothing else before and
 * after the items, because that could change the order of commands of runs that began earlier.
 */
export async function runMap(run: FlowRun, step: MapStep): Promise<FlowStepResult> {
  const source = sourceToRead(run, step);
  if (source) await divideItems(run, step, source);
  const { parts } = run.path;
  if (parts?.slices) return runSlices(run, step, parts.slices);
  if (!parts?.items) return undefined;
  const { ended, items } = parts;
  const { concurrency, on_error, next } = step;
  const each = partsFor(run, step, items);
  const stop = await runParts(inPlace(run, step), each, { concurrency, keepsErrors: on_error !== 'fail' });
  if (stop === 'history is full') return undefined;
  const results = each.flatMap(({ name }) => ended[name] ?? []);
  const kept = on_error === 'skip' ? results.filter((result) => 'output' in result) : results;
  return { output: kept.map(shown), next };
}

function partsFor(run: FlowRun, step: MapStep, items: readonly unknown[]): Part[] {
  const from = sliceFor(run, step)?.from ?? 0;
  return items.map((item, at) => {
    const index = from + at;
    return { name: String(index), first: step.first, names: { item, [step.as]: item, index } };
  });
}

/** Each slice has a path, whose child is the run that works on it. Its output is the list of the outputs of its items. */
async function runSlices(run: FlowRun, step: MapStep, slices: readonly Slice[]): Promise<FlowStepResult> {
  const { ended } = partsOf(run.path);
  const each = slices.map(({ from, count }): Part => ({
    name: `items-${from}`,
    first: step.first,
    slice: { step_id: step._id, from, count },
  }));
  const concurrency = Math.min(maxSlicesAtOnce, step.concurrency);
  const stop: Stop = await runParts(inPlace(run, step), each, { concurrency, keepsErrors: false });
  if (stop === 'history is full') return undefined;
  const results = each.map(({ name }) => ended[name]);
  const output = results.flatMap((result) => (result && 'output' in result ? (result.output as unknown[]) : []));
  return { output, next: step.next, isCounted: true };
}

/** Puts a list that this run works on itself into the parts of the path. Otherwise returns what an activity has to read or divide. */
function sourceToRead(run: FlowRun, step: MapStep): ItemsSource | undefined {
  const { input, state, path } = run;
  if (path.parts?.items || path.parts?.slices) return undefined;
  const own = sliceFor(run, step);
  const kept = state.failover ? undefined : input.kept?.items?.[idInPath(path, step._id)];
  if (own) partsOf(path).items = own.items;
  else if (kept) return { kept };
  else if (typeof step.items !== 'string') return { query: step.items };
  else {
    const items = listOf(run, step.items);
    if (items.length > maxItemsOfRun && isDivided(run)) return { items };
    partsOf(path).items = items;
  }
  return undefined;
}

/** Puts the items or the slices into the parts of the path. */
async function divideItems(run: FlowRun, step: MapStep, source: ItemsSource): Promise<void> {
  const { input, state, path } = run;
  const place = idInRun(state, idInPath(path, step._id));
  const most = isDivided(run) ? maxItemsOfRun : maxItemsWithEvents;
  await runStep(input, state, path, { kind: 'divideItems', map: step, source, place, most, isDivided: isDivided(run) });
}

/** Events are sent to this run, so it works itself on items that wait for some. */
function isDivided({ input }: FlowRun): boolean {
  return input.divides_items === true && !input.steps?.some((step) => step.type === 'wait' && step.event);
}

/** @throws ApplicationFailure `validation_failed` */
function listOf(run: FlowRun, text: string): unknown[] {
  const list = evaluateOn(run, { field: 'items', text, type: 'list' }) as unknown[];
  const limit = isDivided(run) ? maxItems : maxItemsWithEvents;
  if (list.length <= limit) return list;
  const why = isDivided(run) || !run.input.divides_items ? 'a map' : 'a map in a flow that waits for events';
  const message = `items: the list has ${list.length} items, and ${why} can have at most ${limit}`;
  throw ApplicationFailure.nonRetryable(message, 'validation_failed');
}

/** The slice of this run, if the step is the `map` that was divided. */
function sliceFor({ input, path }: FlowRun, { _id }: MapStep) {
  return path.path === '' && input.slice?.step_id === _id ? input.slice : undefined;
}

export function inPlace({ state, path, runPath }: FlowRun, { _id }: InnerStep) {
  return { state, path, runPath, place: idInPath(path, _id) };
}

export function shown(result: PartResult): unknown {
  return 'output' in result ? result.output : result;
}
