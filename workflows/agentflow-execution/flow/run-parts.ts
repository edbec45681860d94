import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { isOfRun, noAuthority } from '../authority.js';
import { endChild } from '../children.js';
import { codeOf, stepMessageOf } from '../failure.js';
import { withdrawHeld } from '../held-acts.js';
import type { ExecutionState } from '../messages.js';
import type { PartResult, PathState, SliceOnPath, StepParts } from '../path-state.js';
import { newPath, outputOfPath, pathsOf } from '../paths.js';
import { expirePreviewsOn } from '../previews.js';
import { abandonPath, isOver } from '../state.js';
import { epochSeconds } from '../../time.js';

/** `done` at the end of a path; `history is full` if the run has to continue as new first. */
export type Stop = 'done' | 'history is full';

/** A part of a step that has to run: a branch, an item or a round. */
export interface Part {
  /** Its name among the parts of the step. */
  name: string;
  /** The agent or step that runs first in it. */
  first: string;
  /** What its expressions know. */
  names?: Record<string, unknown>;
  /** For a slice of the items of a `map`. */
  slice?: Omit<SliceOnPath, 'concurrency'>;
}

interface Running {
  state: ExecutionState;
  /** The path of the step. */
  path: PathState;
  /** `path/step`: the paths of the parts begin with it. */
  place: string;
  runPath: (path: PathState) => Promise<Stop>;
}

interface Rules {
  concurrency: number;
  /** Whether a failed part is kept as its result. Otherwise it fails the step. */
  keepsErrors: boolean;
  /** Whether the parts that have ended suffice. The others are cancelled. */
  isEnough?: (ended: StepParts['ended']) => boolean;
}

/**
 * Runs parts of a step, each on a path of its own, and keeps their results in `path.parts`. A part that fails for good
 * cancels the others; all of them have ended when this function returns or throws.
 */
export async function runParts(running: Running, parts: readonly Part[], rules: Rules): Promise<Stop> {
  const { state, path, place, runPath } = running;
  const ended = partsOf(path).ended;
  const isEnough = () => rules.isEnough?.(ended) === true;
  const waiting = parts.filter(({ name }) => !Object.hasOwn(ended, name));
  const scope = new CancellationScope();
  const failures: unknown[] = [];
  let isFull = false;
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    scope.cancel();
  };

  const runPart = async (part: Part): Promise<void> => {
    const own = `${place}/${part.name}`;
    const inner = (state.paths[own] ??= beginPart(state, own, part));
    try {
      if ((await runPath(inner)) === 'history is full') {
        isFull = true;
        return;
      }
      ended[part.name] = { output: outputOfPath(state, inner) };
      delete state.paths[own];
    } catch (error) {
      // The others were cancelled because the step has failed or has enough results.
      if (isStopped && isCancellation(error)) {
        for (const each of openWithin(state, inner)) await endBegun(state, each);
        return leave(state, inner);
      }
      if (isCancellation(error) || isOver(state) || !rules.keepsErrors || endsRun(error, state)) {
        path.failed_step_id ??= inner.failed_step_id;
        failures.push(error);
        stop();
        return;
      }
      ended[part.name] = errorResult(error);
      for (const each of openWithin(state, inner)) await endBegun(state, each);
      leave(state, inner);
    }
    if (isEnough()) stop();
  };
  const runNext = async (): Promise<void> => {
    for (let part = waiting.shift(); part && !isStopped && !isFull; part = waiting.shift()) await runPart(part);
  };

  if (!isEnough()) {
    const lanes = Math.min(rules.concurrency, waiting.length);
    await scope.run(() => Promise.all(Array.from({ length: lanes }, runNext)));
  }
  if (failures.length > 0) throw failures[0];
  if (isFull && !isEnough()) return 'history is full';
  for (const inner of pathsOf(state)) {
    if (!inner.path.startsWith(`${place}/`)) continue;
    for (const each of openWithin(state, inner)) await endBegun(state, each);
    leave(state, inner);
  }
  return 'done';
}

/** In a rerun, a part continues where the earlier run has left it. One that had ended only gives its output. */
function beginPart({ kept_paths }: ExecutionState, own: string, { first, names, slice }: Part): PathState {
  const begun = { ...newPath(own, first, names), ...(slice && { slice: { ...slice, concurrency: 0 } }) };
  const kept = kept_paths?.[own];
  if (!kept) return begun;
  delete kept_paths[own];
  return { ...begun, ...kept };
}

export function partsOf(path: PathState): StepParts {
  return (path.parts ??= { ended: {} });
}

function pathsWithin(state: ExecutionState, outer: PathState): PathState[] {
  return pathsOf(state).filter((path) => path === outer || path.path.startsWith(`${outer.path}/`));
}

/**
 * The path and those within it that wait for people or another run. Without them nothing is awaited, because each `await` can
 * change the order of commands of runs that began earlier.
 */
function openWithin(state: ExecutionState, outer: PathState): PathState[] {
  return pathsWithin(state, outer).filter(({ held, child }) => held !== null || child !== null);
}

async function endBegun(state: ExecutionState, path: PathState): Promise<void> {
  await withdrawHeld(state, path);
  await endChild(state, path);
}

/** Removes a path that has ended, and those within it. */
function leave(state: ExecutionState, ended: PathState): void {
  for (const path of pathsWithin(state, ended)) {
    expirePreviewsOn(state, path, epochSeconds());
    abandonPath(state, path);
    delete state.paths[path.path];
  }
}

function errorResult(error: unknown): PartResult {
  return { error: { code: codeOf(error), message: stepMessageOf(error) } };
}

/** Whether the failure concerns the whole run, so that no step can keep it as a result. */
export function endsRun(error: unknown, state: ExecutionState): boolean {
  const isRefused = pathsOf(state).some(({ unsettled_anomaly }) => unsettled_anomaly?.refused !== undefined);
  return isRefused || codeOf(error) === noAuthority || isOfRun(error);
}
