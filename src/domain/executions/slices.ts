import type { Filter } from 'mongodb';
import type { SliceOfRun } from '../../../workflows/agentflow-execution/messages.js';
import { AppError } from '../../base/errors.js';
import { derivedId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import type { Collections } from '../../stores/collections.js';
import type { ExecutionDocument } from './record.js';

/** The record of a run that works on a slice of the items of a `map` of another run. */
export type SliceDocument = ExecutionDocument & { flow: { slice: SliceOfRun } };

type Divided = Pick<ExecutionDocument, '_id' | 'flow'>;

/** The run that is no slice itself. */
export function rootOf({ _id, flow }: Divided): string {
  return flow.slice?.root ?? _id;
}

export function sliceId(
  { _id, created_at }: Pick<ExecutionDocument, '_id' | 'created_at'>,
  place: string,
  from: number,
): string {
  return derivedId(created_at, `${_id}/${place}/items-${from}`);
}

/** @param place the place of the `map` in the run */
export function filterOfSlices(run: Divided, place: string): Filter<ExecutionDocument> {
  return { 'flow.slice.root': rootOf(run), 'flow.slice.of': run._id, 'flow.slice.place': place };
}

/** The slices of a `map`, in order. */
export async function readSlices(
  executions: Collections['executions'],
  run: Divided,
  place: string,
): Promise<SliceDocument[]> {
  const found = await executions.find(filterOfSlices(run, place)).sort({ 'flow.slice.from': 1 }).toArray();
  return found as SliceDocument[];
}

/** Ends the slices of a run that nobody starts any more, because the run has ended. */
export async function endSlices(executions: Collections['executions'], root: string, of: string): Promise<void> {
  const at = epochSeconds();
  const message = 'the run that divides the items has ended';
  const failure = { reason: 'cancelled', code: 'cancelled', message, by: 'service', at, step_id: null };
  await executions.updateMany(
    { 'flow.slice.root': root, 'flow.slice.of': of, status: 'ready', started_at: null },
    { $set: { status: 'failed', end_time: at, 'execution_context.failure': failure, changed_at: Date.now() } },
  );
}

/**
 * The run in which the path of a flow is: one that works on a slice, if an item of a divided `map` is on the path, otherwise the
 * run itself. `path` is the path in that run.
 */
export async function runOfPath(
  executions: Collections['executions'],
  run: ExecutionDocument,
  path: string,
): Promise<{ record: ExecutionDocument; path: string }> {
  const names = path.split('/');
  const mark = run.execution_context.failover ? 'failover/' : '';
  for (let at = 1; at < names.length; at += 2) {
    const place = mark + names.slice(0, at).join('/');
    const index = Number(names[at]);
    if (!Number.isSafeInteger(index)) continue;
    const filter = { ...filterOfSlices(run, place), 'flow.slice.from': { $lte: index } };
    const slice = await executions.findOne(filter, { sort: { 'flow.slice.from': -1 } });
    if (slice?.flow.slice && index < slice.flow.slice.from + slice.flow.slice.items.length)
      return runOfPath(executions, slice, names.slice(at - 1).join('/'));
  }
  return { record: run, path };
}

/** @throws AppError `conflict` for a run that only the run that divides the items starts, repeats and deletes */
export function refuseSlice({ flow }: Pick<ExecutionDocument, 'flow'>, what: string): void {
  const { slice } = flow;
  if (slice)
    throw new AppError('conflict', `the execution works on items of ${slice.root}: ${what} that execution instead`);
}

/** Whether a step is on the path or in a part within it. All steps are on the empty path. */
export function isOnPath({ path: own = '' }: { path?: string }, path: string): boolean {
  return path === '' || own === path || own.startsWith(`${path}/`);
}

/** The slices of a run, and those within them, with what a picture of the flow counts. */
export function slicesWithin(executions: Collections['executions'], run: Divided) {
  const root = rootOf(run);
  const own = root === run._id ? {} : { 'flow.slice.of': run._id };
  const counted = ['step_id', 'agent_id', 'path', 'status'].map((name) => [`steps.${name}`, 1] as const);
  return executions.find(
    { 'flow.slice.root': root, ...own, started_at: { $ne: null } },
    { projection: Object.fromEntries(counted) },
  );
}
