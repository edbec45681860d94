import { ApplicationFailure } from '@temporalio/workflow';
import { endsRun } from '../authority.js';
import type { SliceOnPath } from '../path-state.js';
import { idInPath, pathsOf } from '../paths.js';
import { idInRun } from '../steps/index.js';
import type { FlowRun } from './flow-run.js';
import type { FlowStepOf } from './flow-steps.js';
import { runChild, type ChildSteps } from './run-child.js';

type Run = Pick<FlowRun, 'input' | 'state' | 'path' | 'untilQuiet'>;

/** How many runs work on slices of the items of a `map` at once. They share its `concurrency`. */
export const maxSlicesAtOnce = 5;

/**
 * Starts the run of a slice, and keeps its list of outputs. Returns early like `runChild`.
 * @throws ApplicationFailure as the item that failed
 */
export async function runSlice(run: Run, map: FlowStepOf<'map'>, slice: SliceOnPath): Promise<void> {
  const { path } = run;
  slice.concurrency ||= freeShare(run, map);
  const result = await runChild(run, stepsOfSlice(run, map, slice));
  if (!result) return;
  const key = `items-${slice.from}`;
  Object.assign(path, { last: key, outputs: { [key]: result.output } });
}

function stepsOfSlice({ state, path }: Run, map: FlowStepOf<'map'>, slice: SliceOnPath): ChildSteps {
  const outer = path.path.split('/').slice(0, -2).join('/');
  const place = idInRun(state, idInPath({ path: outer }, map._id));
  return {
    start: { kind: 'startSlice', map, place, slice },
    read: (execution_id, number) => ({ kind: 'readSlice', map, slice, execution_id, number }),
    waits: true,
    failureOf(_executionId, { code, message, step_id, ends_run }) {
      path.failed_step_id = step_id ? `${place}${step_id.slice(map._id.length)}` : null;
      return ApplicationFailure.nonRetryable(message, code, ...(ends_run ? [endsRun] : []));
    },
  };
}

/** A part of the concurrency of the `map` that no other slice has now. */
function freeShare({ state, path }: Run, { concurrency }: FlowStepOf<'map'>): number {
  const count = Math.min(maxSlicesAtOnce, concurrency);
  const free = Array.from({ length: count }, (_one, at) => Math.floor((concurrency + at) / count));
  const owner = path.path.slice(0, path.path.lastIndexOf('/'));
  for (const other of pathsOf(state)) {
    if (other === path || !other.slice?.concurrency || other.path.slice(0, other.path.lastIndexOf('/')) !== owner)
      continue;
    free.splice(free.indexOf(other.slice.concurrency), 1);
  }
  return Math.max(...free);
}
