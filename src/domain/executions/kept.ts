import type { AgentOutput } from '../../../workflows/agentflow-execution/messages.js';
import type { KeptPath } from '../../../workflows/agentflow-execution/path-state.js';
import { inPath } from '../../../workflows/agentflow-execution/paths.js';
import type { StepRecord } from '../../../workflows/agentflow-execution/step-record.js';
import { AppError } from '../../base/errors.js';
import { followerOf, inFirstPass, readEarlierRun, type EarlierRun, type FlowNode } from './earlier-run.js';
import { nodeOf } from './step-place.js';

/** What a rerun keeps of the run that it repeats. */
export interface Kept {
  /** Where each path continues, by path. */
  paths: Record<string, KeptPath>;
  /** The records of what has ended. */
  steps: StepRecord[];
  outputs: AgentOutput[];
  /**
   * The items that an activity has read for a `map`, by its place: the run that has read them, unless it is the one that is repeated,
   * and where the rerun begins within them.
   */
  items: Record<string, { execution_id?: string; from?: string }>;
}

type Earlier = ReturnType<typeof readEarlierRun>;

const refuse = (problem: string) => new AppError('validation_failed', `from_agent_id: ${problem}`);

/**
 * The place that a request means: an agent or step (`price`), one in a part of a step (`each/17/price`), or a part
 * (`each/17`), which begins at its first node. The path of a node that the run has reached once may be left out.
 * @throws AppError `validation_failed`
 */
export function placeMeant(run: EarlierRun, from: string): string {
  const earlier = readEarlierRun(run);
  const names = from.split('/');
  const path = names.slice(0, names.length - (names.length % 2)).join('/');
  const owners = path.split('/').filter((_name, at) => at % 2 === 0);
  const unknown = [...(path === '' ? [] : owners), ...(names.length % 2 === 1 ? names.slice(-1) : [])].find(
    (id) => !earlier.nodeAt(id),
  );
  if (unknown !== undefined) throw refuse(`the execution has no agent or step ${unknown}`);
  if (isInSlice(run, from)) return from;
  if (names.length % 2 === 0) return inPath(path, firstOf(earlier, names, path));
  if (names.length > 1 || earlier.reached.has(from)) return from;
  const places = [...earlier.reached].filter((place) => place.endsWith(`/${from}`));
  if (places.length < 2) return places[0] ?? from;
  const examples = places.slice(0, 3).join(', ');
  throw refuse(`${from} has run ${places.length} times; name one with its path: ${examples}`);
}

/** Whether a run of its own works on the item that the place names. */
export function isInSlice(run: EarlierRun, place: string): boolean {
  const { divided } = readEarlierRun(run);
  const names = place.split('/');
  return names.some((_name, at) => at % 2 === 1 && divided.get(names.slice(0, at).join('/'))?.isSliced);
}

function firstOf(earlier: Earlier, names: readonly string[], path: string): string {
  const owner = names.slice(0, -1).join('/');
  const step = earlier.nodeAt(names.at(-2) ?? '')?.step;
  const part = step && earlier.partsBegun(owner, step).find(({ name }) => name === names.at(-1));
  if (!part) throw refuse(`the execution has never reached ${path}`);
  return part.first;
}

/**
 * What has ended before `place`, or everything that has: on its path and the paths around it, and in the other parts of the steps around it.
 * Parts that have not ended continue where they were. A pure function of the record of the run.
 * @throws AppError `validation_failed` if the run has not reached the place, or its record does not have an output that is needed
 */
export function keptBefore(run: EarlierRun, place: string | null): Kept {
  const earlier = readEarlierRun(run);
  const paths: Kept['paths'] = {};
  const items: Kept['items'] = {};
  const ended = new Set<string>();
  const neverReached = (reason = '') => refuse(`the execution has never reached ${place ?? ''}${reason}`);

  /** Follows a path until `stop`, or until what has not ended. */
  const follow = (path: string, first: string, stop: string | undefined): KeptPath => {
    const kept: KeptPath = { next: first, last: null, outputs: {} };
    let missing: string | undefined;
    while (kept.next !== null && kept.next !== stop) {
      const id: string = kept.next;
      const node = earlier.nodeAt(id);
      const end = earlier.endAt(path, id);
      if (!node || !end || ended.has(inPath(path, id))) break;
      if (!('output' in end)) missing ??= inPath(path, id);
      ended.add(inPath(path, id));
      if (!end.isAgent) kept.outputs[id] = end.output;
      Object.assign(kept, { last: id, next: followerOf(node, end) });
    }
    if (missing !== undefined && (stop === undefined || kept.next === stop))
      throw refuse(
        `the record has no output of ${missing}, which ran in an earlier version; start from it or before it`,
      );
    return kept;
  };

  const keepPath = (path: string, first: string, target: readonly string[]): void => {
    const [stop, part, ...rest] = target;
    const kept = path === '' ? followMain(stop) : follow(path, first, stop);
    paths[path] = kept;
    if (stop !== undefined && kept.next !== stop)
      throw neverReached(kept.next === null ? '' : `: ${inPath(path, kept.next)} has no output`);
    if (kept.next === null || (stop !== undefined && part === undefined)) return;
    keepParts(inPath(path, kept.next), kept.next, part, rest);
  };

  /** The main part. A run that began at a later agent has no outputs of those before. */
  const followMain = (stop: string | undefined): KeptPath => {
    const { initialAgent } = run.agentflow;
    const start = run.start_from_agent_id;
    const main = follow('', initialAgent, stop);
    if (main.next === null || main.next === stop || start === null || earlier.reached.has(main.next)) return main;
    const onward = skipTo(earlier, main.next, [start, stop]);
    const rest = follow('', onward ?? start, stop);
    return { ...rest, last: rest.last ?? main.last, outputs: { ...main.outputs, ...rest.outputs } };
  };

  const keepParts = (owner: string, id: string, part: string | undefined, rest: readonly string[]): void => {
    const step = earlier.nodeAt(id)?.step;
    const divided = earlier.divided.get(owner);
    if (divided)
      items[owner] = {
        ...(divided.kept_from !== undefined && { execution_id: divided.kept_from }),
        // The runs of slices find the place themselves.
        ...(divided.isSliced && part !== undefined && { from: [part, ...rest].join('/') }),
      };
    if (divided?.isSliced) return;
    const begun = step ? earlier.partsBegun(owner, step) : [];
    if (part !== undefined && !begun.some(({ name }) => name === part)) throw neverReached();
    // The rounds of a loop follow each other; those after the place run again.
    const before = begun.filter(
      ({ name }) => step?.type !== 'loop' || part === undefined || Number(name) <= Number(part),
    );
    for (const { name, first } of before) keepPath(`${owner}/${name}`, first, name === part ? rest : []);
    if (part === undefined || step?.type !== 'parallel' || step.join === 'all') return;
    const needed = step.join === 'any' ? 1 : step.join.count;
    const done = before.filter(({ name }) => name !== part && paths[`${owner}/${name}`]?.next === null);
    if (done.length >= needed)
      throw refuse(
        `${place} would not run, because other branches of ${owner} have ended, which suffice; start from ${owner}`,
      );
  };

  keepPath('', run.agentflow.initialAgent, place === null ? [] : place.split('/'));
  const isKept = (path: string | undefined, id: string) => isWithin(ended, inPath(path ?? '', id));
  const isOfItems = (record: StepRecord) =>
    record.kind === 'divideItems' && inPath(record.path ?? '', nodeOf(record)) in items;
  return {
    paths,
    items,
    steps: earlier.steps
      .filter((record) => record.ended_at !== null && (isKept(record.path, nodeOf(record)) || isOfItems(record)))
      .map(inFirstPass),
    outputs: earlier.outputs.filter(({ path, agent_id }) => isKept(path, agent_id)),
  };
}

/** The first of the places that follow a node without an output, along the pointers that have no alternative. */
function skipTo(earlier: Earlier, from: string, places: readonly (string | undefined)[]): string | undefined {
  const passed = new Set<string>();
  for (let id: string | null = from; id !== null && !passed.has(id);) {
    if (places.includes(id) || earlier.endAt('', id)) return id;
    passed.add(id);
    const { agent, step }: FlowNode = earlier.nodeAt(id) ?? {};
    id = step?.type === 'branch' ? null : step ? step.next : (agent?.next_agent ?? null);
  }
  return undefined;
}

/** Whether the place, or a step around it, is among the places. */
function isWithin(places: ReadonlySet<string>, place: string): boolean {
  const names = place.split('/');
  for (let length = names.length; length > 0; length -= 2)
    if (places.has(names.slice(0, length).join('/'))) return true;
  return false;
}
