import type { ItemsQuery } from '../../../workflows/agentflow-execution/flow/map-step.js';
import { maxItems, maxItemsOfRun } from '../../../workflows/agentflow-execution/flow/map-step.js';
import type { SliceOfRun } from '../../../workflows/agentflow-execution/messages.js';
import type { KeptItems, Slice } from '../../../workflows/agentflow-execution/path-state.js';
import type { DividedItems, DivideItemsRequest } from '../../../workflows/agentflow-execution/steps/divide-items.js';
import { AppError, notFound } from '../../base/errors.js';
import { insertOnce } from '../../stores/insert-once.js';
import { toStorable } from '../../stores/storable.js';
import { principalOfStep } from '../actions/operations/calls-of-runs.js';
import type { Deps } from '../deps.js';
import { openItems } from '../tables/operations/items.js';
import { readEarlierRun } from './earlier-run.js';
import { keepSlice } from './keep-slice.js';
import { notStarted } from './operations/create.js';
import type { ExecutionDocument } from './record.js';
import { flowOfMap } from './slice-flow.js';
import { readSlices, rootOf, sliceId, type SliceDocument } from './slices.js';

/** For the items of one run, in characters of JSON. A single item may be longer. */
const maxSliceLength = 1024 * 1024;
/** For the rows of one `map`, in characters of JSON. */
const maxLength = 64 * 1024 * 1024;

/**
 * Reads the items of a `map`. Prepares a run of its own for each slice of many items, so that later changes of a table do not
 * affect them. Safe to repeat: a repeat continues after the last slice that was stored.
 * @throws AppError `validation_failed` for too many items, `not_found` for an unknown table
 */
export async function divideItems(deps: Deps, request: DivideItemsRequest): Promise<DividedItems> {
  const { executions } = deps.mongo.collections;
  const { source } = request;
  const run = await executions.findOne({ _id: request.run.execution_id });
  if (!run) throw notFound('the execution');
  const stored: SliceDocument[] = [];
  const store = async (slice: SliceDocument) => {
    stored.push((await insertOnce(executions, slice as ExecutionDocument)) as SliceDocument);
  };
  const nextSlice = (items: unknown[]) => sliceOf(run, request, { from: countOf(stored), items });
  if ('kept' in source) {
    const earlier = await earlierItems(deps, source.kept);
    if ('items' in earlier) return earlier;
    for (const old of earlier.slices) await store(keepSlice(nextSlice(old.flow.slice.items), old, source.kept.from));
  } else if ('items' in source) for (const items of inSlices(source.items)) await store(nextSlice(items));
  else {
    stored.push(...(await readSlices(executions, run, request.place)));
    const items = await divideRows(deps, request, {
      query: source.query,
      stored,
      store: (own) => store(nextSlice(own)),
    });
    if (items) return { items };
  }
  return { slices: stored.map(toSlice) };
}

/** A run that is ready to work on a slice. It has the content and the people of the run that divides the items. */
function sliceOf(
  run: ExecutionDocument,
  { step_id, place, goal, given }: DivideItemsRequest,
  { from, items }: { from: number; items: unknown[] },
): SliceDocument {
  const slice: SliceOfRun = { root: rootOf(run), of: run._id, place, step_id, from, items };
  const content = flowOfMap(run, step_id);
  return toStorable({
    ...run,
    ...content,
    ...notStarted(sliceId(run, place, from)),
    flow: { ...content.flow, given, slice },
    goal,
    parent_execution_id: run._id,
    start_from_agent_id: null,
    execution_context: {},
    moved_seq: null,
  });
}

/** At most so many items, and so long together. */
function inSlices<T>(items: readonly T[]): T[][] {
  const slices: T[][] = [];
  let length = 0;
  for (const item of items) {
    const own = JSON.stringify(item).length;
    const last = slices.at(-1);
    if (last && last.length < maxItemsOfRun && length + own <= maxSliceLength) {
      last.push(item);
      length += own;
    } else {
      slices.push([item]);
      length = own;
    }
  }
  return slices;
}

interface Division {
  query: ItemsQuery;
  /** The slices so far. */
  stored: readonly SliceDocument[];
  store: (items: unknown[]) => Promise<void>;
}

/** Reads the rows with the rights of the person for whom the run acts. Returns few rows, and stores many as slices. */
async function divideRows(
  deps: Deps,
  { project_id, run, most, is_divided }: DivideItemsRequest,
  { query, stored, store }: Division,
): Promise<unknown[] | undefined> {
  const principal = await principalOfStep(deps.mongo.collections, { project_id, run }, ['svc:orchestrate.read']);
  const rows = await openItems(deps.mongo, principal.projectId, query);
  const total = await rows.count(query.limit ?? maxItems + 1);
  if (!is_divided && total > most) throw tooMany(`${total} rows match`, `a map in a flow that waits for events`, most);
  if (total > maxItems) throw tooMany('more rows match', 'a map', maxItems);
  if (stored.length === 0 && total <= most) {
    const items = total === 0 ? [] : await rows.readAfter(undefined, total);
    if (!is_divided || JSON.stringify(items).length <= maxSliceLength) return items;
  }
  let length = JSON.stringify(stored.map(itemsOf)).length;
  while (countOf(stored) < total) {
    // A slice that an earlier attempt has stored may have other rows than this attempt would read.
    const last = stored.at(-1);
    const page = await rows.readAfter(last && itemsOf(last).at(-1), Math.min(maxItemsOfRun, total - countOf(stored)));
    const [items] = inSlices(page);
    if (!items) break;
    length += JSON.stringify(items).length;
    if (length > maxLength) {
      const message = `items: the rows have more than ${maxLength} characters of JSON together; set a limit or a filter`;
      throw new AppError('validation_failed', message);
    }
    await store(items);
  }
  return undefined;
}

function tooMany(what: string, who: string, most: number): AppError {
  return new AppError(
    'validation_failed',
    `items: ${what}, and ${who} can have at most ${most}; set a limit or a filter`,
  );
}

function itemsOf({
  flow: { slice },
}: SliceDocument): Parameters<Awaited<ReturnType<typeof openItems>>['readAfter']>[0][] {
  return slice.items as never;
}

function toSlice({ flow: { slice } }: SliceDocument): Slice {
  return { from: slice.from, count: slice.items.length };
}

function countOf(slices: readonly SliceDocument[]): number {
  const last = slices.at(-1);
  return last ? last.flow.slice.from + last.flow.slice.items.length : 0;
}

/** The items with which a rerun continues, as the earlier run has read them. */
async function earlierItems(
  { mongo }: Deps,
  { execution_id, place }: KeptItems,
): Promise<{ items: unknown[] } | { slices: SliceDocument[] }> {
  const { executions } = mongo.collections;
  const earlier = await executions.findOne({ _id: execution_id });
  if (!earlier)
    throw new AppError('not_found', `the run ${execution_id} was deleted, and with it the items of ${place}`);
  const placeThere = readEarlierRun(earlier).placeInRun(place);
  const read = earlier.steps.findLast(
    ({ kind, step_id }) => kind === 'divideItems' && step_id === `${placeThere}/items`,
  );
  if (read && 'output' in read) return { items: read.output as unknown[] };
  return { slices: await readSlices(executions, earlier, placeThere) };
}
