import type { Client } from '../../node/src/index.js';
import { noteInStep, requireFolder, writeFiles, writeState } from './folder.js';
import { mapReferences, PartlySaved, type Kind, type Remote, type Wanted } from './kind.js';
import { kinds } from './kinds.js';
import { addResource, compare, inStepWith, sideOf, type Comparison, type Difference, type Selection } from './plan.js';
import { Problem } from './problem.js';
import { isChangedThere, placeOf, refuse } from './sync.js';
import { print } from './terminal.js';

export interface PushOptions extends Selection {
  force?: boolean;
  prune?: boolean;
  release?: boolean;
  note?: string;
  /** What to do if the project has changed. */
  whatToDo?: string;
}

/** A push in progress. */
interface Push extends Comparison {
  client: Client;
  root: string;
  /** What waits for a resource to which it refers. */
  waiting: Difference[];
  changed: number;
}

/** Changes the project to what the files say; agentflows only as drafts. With `release`, publishes them. Promotes nothing. */
export async function push(client: Client, root: string, options: PushOptions): Promise<void> {
  requireFolder(root);
  const { force = false, prune = false, release = false, note = '' } = options;
  const work: Push = { ...(await compare(client, root, options)), client, root, waiting: [], changed: 0 };
  const { found, state } = work;
  if (!force)
    refuse(
      found.filter((each) => isChangedThere(each) && (each.local ?? prune)),
      options.whatToDo ??
        'was changed in the project since the last pull; run `gcs pull`, or `gcs push --force` to overwrite it',
    );
  const gone = found.filter(({ local, change }) => !local && change !== 'only there');
  const removed = prune ? gone : [];
  refuseImpossible(work, removed, prune);

  for (const kind of kinds) {
    const mine = found.filter((each) => each.kind === kind);
    for (const each of mine) {
      const { file, change, remote } = each;
      if (change === 'same' && remote)
        noteInStep(state.resources[kind.folder], file, inStepWith(each, remote.stored.id, remote.digest));
    }
    const saved = mine.filter(({ local, change }) => local && change !== 'same');
    if (kind.isOneSet)
      await change(
        work,
        kind,
        saved,
        removed.filter((each) => each.kind === kind),
      );
    else for (const each of saved) await saveInOrder(work, each);
    for (const each of work.waiting.splice(0)) await saveInOrder(work, each);
  }
  for (const each of removed.reverse()) if (!each.kind.isOneSet) await change(work, each.kind, [], [each]);
  writeState(root, state);
  print(work.changed === 0 ? 'Nothing to push.' : `Files pushed: ${work.changed}.`);
  if (!prune && gone.length > 0)
    print(`Without a file, but kept: ${gone.map(placeOf).join(', ')}. \`gcs push --prune\` deletes them.`);
  if (release)
    for (const { kind, file, local } of found)
      if (kind.hasPrompts && local) await publish(client, file, state.resources[kind.folder].get(file)?.id ?? '', note);
}

/** Checks everything before anything is changed. @throws Problem */
function refuseImpossible(work: Push, removed: readonly Difference[], prune: boolean): void {
  const { found, resources } = work;
  const present = new Set([...resources.byFile.keys(), ...found.filter(({ local }) => local).map(placeOf)]);
  for (const each of removed) present.delete(placeOf(each));
  for (const each of found) {
    const { kind, local, change } = each;
    if (!local) continue;
    const fail = (problem: string) => {
      throw new Problem(`${placeOf(each)}: ${problem}`);
    };
    mapReferences(kind, local.content, (value, { path, to }) => {
      if (to.some((folder) => value.startsWith(`${folder}/`)) && !present.has(value))
        fail(`${path.at(-1) ?? ''}: there is no ${value}; name a file that is pushed too, without .yaml`);
      return value;
    });
    if (change === 'same') continue;
    const problem = kind.problemOf?.(wantedOf(work, each), prune);
    if (problem !== undefined) fail(problem);
  }
}

/** Saves a resource, or first what others need to refer to it, if it refers to something that is not there yet. */
async function saveInOrder(work: Push, each: Difference): Promise<void> {
  const { kind, local, remote } = each;
  const { byFile } = work.resources;
  const missing: string[] = [];
  mapReferences(kind, local?.content ?? {}, (value, { to }) => {
    if (to.some((folder) => value.startsWith(`${folder}/`)) && !byFile.has(value)) missing.push(value);
    return value;
  });
  if (missing.length === 0) return change(work, kind, [each], []);
  if (!remote && kind.stubOf && local) {
    const [stored] = await kind.change(work.client, [{ file: each.file, content: kind.stubOf(local.content) }], []);
    if (stored) each.remote = { ...noteSaved(work, each, stored), stored };
  }
  work.waiting.push(each);
}

/** Makes changes in one call of their kind. */
async function change(work: Push, kind: Kind, saved: readonly Difference[], removed: readonly Difference[]) {
  if (saved.length + removed.length === 0) return;
  const { client, root, state } = work;
  const wanted = saved.map((each) => wantedOf(work, each));
  const gone = removed.flatMap(({ remote }) => remote?.stored ?? []);
  const stored = await kind.change(client, wanted, gone).catch((error: unknown) => {
    const [first] = saved;
    if (error instanceof PartlySaved && first) noteSaved(work, first, error.stored);
    throw error instanceof PartlySaved ? error.cause : error;
  });
  for (const [at, each] of saved.entries()) {
    const answered = stored[at];
    if (!answered) throw new Error(`the service did not save ${placeOf(each)}`);
    const { content, digest } = noteSaved(work, each, answered);
    // The service has completed it, for example with ids. Code stays as its author wrote it.
    if (digest !== each.local?.digest && each.source === undefined) writeFiles(root, kind, each.file, content);
    print(`${each.change === 'create' ? '+' : '~'} ${placeOf(each)}`);
  }
  for (const each of removed) {
    state.resources[kind.folder].delete(each.file);
    print(`- ${placeOf(each)}`);
  }
  work.changed += saved.length + removed.length;
  // A process that ends here must not take its own changes for those of others.
  writeState(root, state);
}

function wantedOf({ resources: { byFile } }: Push, { kind, file, local, remote }: Difference): Wanted {
  const content = mapReferences(kind, local?.content ?? {}, (value, { path }) => {
    const named = byFile.get(value);
    return (path.at(-1) === 'connector_id' ? (named?.connectorId ?? named?.id) : named?.id) ?? value;
  });
  return { file, content, ...(remote && { remote: remote.stored }) };
}

/** Notes what was saved, so that others can refer to it. Returns its content as files have it. */
function noteSaved({ root, state, resources }: Push, each: Difference, stored: Remote) {
  const { kind, file } = each;
  addResource(resources, kind, file, stored);
  const side = sideOf(kind, stored.content, resources.refs);
  noteInStep(state.resources[kind.folder], file, inStepWith(each, stored.id, side.digest));
  writeState(root, state);
  return side;
}

/** Publishes the draft, unless the latest release is the same. */
async function publish({ call }: Client, file: string, id: string, note: string): Promise<void> {
  const { data } = await call('get', '/agentflow/{id}/versions', { params: { id }, query: { limit: 1 } });
  const latest = data[0];
  if (latest) {
    const query = { from: String(latest.version), to: 'draft' };
    const { from, to } = await call('get', '/agentflow/{id}/diff', { params: { id }, query });
    if (from.digest === to.digest) return print(`  ${file}: release ${latest.version} has this content`);
  }
  const body = { note, ...(latest && { base: latest.digest }) };
  const { version } = await call('post', '/agentflow/{id}/versions', { params: { id }, body });
  print(`  ${file}: published as release ${version}`);
}
