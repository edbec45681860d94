import { ServiceError, type Client } from '../../node/src/index.js';
import { chosenFiles, hasSource, readCodeFile } from './code.js';
import { readFiles, readState, uniqueName, type InStep, type Local, type State } from './folder.js';
import { mapReferences, type Folder, type Kind, type Remote } from './kind.js';
import { kinds } from './kinds.js';
import { Problem } from './problem.js';
import { canonical, digestOf, type Json } from './shape.js';

export type Change = 'same' | 'create' | 'update' | 'delete' | 'changed elsewhere' | 'deleted elsewhere' | 'only there';

/** A resource in files or in the project, with references to files. */
export interface Side {
  content: Json;
  digest: string;
}

/** What differs between a resource in files and in the project. */
export interface Difference {
  kind: Kind;
  file: string;
  change: Change;
  local?: Side;
  remote?: Side & { stored: Remote };
  /** The digest of the content with which both were in step. */
  base?: string;
  /** The file of an agentflow in code. */
  source?: string;
}

/** What a command compares. */
export interface Selection {
  /** The folders; all of them if there are none. */
  only?: readonly Folder[];
  /** The files, with those in code; all but code if there are none. */
  files?: readonly string[];
}

export interface Comparison {
  state: State;
  found: Difference[];
  resources: Resources;
}

/** The resources of the project, of all kinds. */
export interface Resources {
  /** Their files, by their ids. */
  refs: Map<string, string>;
  /** By their files. */
  byFile: Map<string, Remote>;
}

/** A file, a resource of the project, or both. */
interface Match {
  file: string;
  local?: Local;
  remote?: Remote;
  /** With what both were in step. */
  known?: InStep;
}

/** Compares three sides: the files, the project, and the state in which both were in step. */
export async function compare(client: Client, root: string, selection: Selection): Promise<Comparison> {
  const chosen = chosenFiles(root, kinds, selection.files ?? []);
  const only = chosen.length > 0 ? chosen.map(({ folder }) => folder) : (selection.only ?? []);
  const state = readState(root, client.projectId);
  const resources: Resources = { refs: new Map(), byFile: new Map() };
  const locals = kinds.map((kind) => readFiles(root, kind));
  for (const { folder, source } of chosen) {
    const at = kinds.findIndex((kind) => kind.folder === folder);
    const kind = kinds[at];
    if (source !== undefined && kind) locals[at]?.push(await readCodeFile(root, kind, source));
  }
  // The lists share the addresses of the service, which the first call gets.
  await client.connectionInfo();
  const remotes = await Promise.all(kinds.map((kind, at) => listed(client, kind, isWanted(kind, only) && locals[at])));
  const matches = kinds.map((kind, at) => {
    const there = remotes[at];
    if (!there) return [];
    const matched = match(kind, locals[at] ?? [], there, state.resources[kind.folder], resources.refs);
    for (const { file, remote } of matched) if (remote) addResource(resources, kind, file, remote);
    return matched;
  });
  const found = kinds.flatMap((kind, at) =>
    isWanted(kind, only) ? (matches[at] ?? []).map((each) => differenceOf(kind, each, resources.refs)) : [],
  );
  const isChosen = ({ kind, file }: Difference) =>
    chosen.some((each) => each.folder === kind.folder && each.file === file);
  // Code runs only where the command line names it, so nothing is known about other files of code.
  const isKnown = ({ kind, file, local }: Difference) => {
    const inStep = state.resources[kind.folder].get(file);
    return local !== undefined || inStep === undefined || !hasSource(root, inStep);
  };
  return { state, found: found.filter(chosen.length > 0 ? isChosen : isKnown), resources };
}

function isWanted({ folder }: Kind, only: readonly Folder[]): boolean {
  return only.length === 0 || only.includes(folder);
}

/** Returns undefined if the key may not read this kind. @throws Problem if there are files of it */
async function listed(client: Client, kind: Kind, locals: Local[] | undefined | false): Promise<Remote[] | undefined> {
  try {
    return await kind.list(client);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 403) throw error;
    if (!locals || locals.length === 0) return undefined;
    throw new Problem(
      `${kind.folder}: the key may not read them: ${error.error_description}; use another key, or choose other folders with --only`,
    );
  }
}

export function addResource({ refs, byFile }: Resources, { folder }: Kind, file: string, remote: Remote): void {
  byFile.set(`${folder}/${file}`, remote);
  refs.set(remote.id, `${folder}/${file}`);
  if (remote.connectorId !== undefined) refs.set(remote.connectorId, `${folder}/${file}`);
}

/** Finds the resource of each file by the state and, without one, by its name. */
function match(
  kind: Kind,
  locals: readonly Local[],
  remotes: readonly Remote[],
  known: State['resources'][Folder],
  refs: ReadonlyMap<string, string>,
): Match[] {
  const byId = new Map(remotes.map((remote) => [remote.id, remote]));
  const present = new Set(locals.map(({ file }) => file));
  // What is gone on both sides can be made again.
  for (const [file, { id }] of known) if (!present.has(file) && !byId.has(id)) known.delete(file);
  const files = new Map([...known].map(([file, inStep]) => [inStep.id, { file, known: inStep }]));
  // What belonged to a file that has another name now can be found by its own name.
  const bound = new Set([...known].filter(([file]) => present.has(file)).map(([, { id }]) => id));
  const found = byName(
    kind,
    locals.filter(({ file }) => !known.has(file)),
    remotes.filter(({ id }) => !bound.has(id)),
    refs,
  );
  const withFiles = locals.map((local): Match => {
    const own = known.get(local.file);
    const remote = own ? byId.get(own.id) : found.get(local.file);
    const inStep = own ?? files.get(remote?.id ?? '')?.known;
    return { file: local.file, local, ...(remote && { remote }), ...(inStep && { known: inStep }) };
  });
  const used = new Set(withFiles.flatMap(({ remote }) => remote?.id ?? []));
  const taken = new Set([...locals.map(({ file }) => file), ...known.keys()]);
  const others = remotes
    .filter(({ id }) => !used.has(id))
    .map((remote): Match => {
      const name = () => uniqueName(kind.nameOf(remote.content, refs), taken, kind.unnamed ?? kind.noun);
      return { ...(files.get(remote.id) ?? { file: name() }), remote };
    });
  return [...withFiles, ...others];
}

/** Finds resources by their names. Of several, one with the same content is preferred. */
function byName(
  kind: Kind,
  locals: readonly Local[],
  remotes: readonly Remote[],
  refs: ReadonlyMap<string, string>,
): Map<string, Remote> {
  const free = new Map<string, Remote[]>();
  for (const remote of remotes) {
    const name = kind.nameOf(remote.content, refs);
    free.set(name, [...(free.get(name) ?? []), remote]);
  }
  const found = new Map<string, Remote>();
  // References are not compared, because the files of what they name are not known yet.
  const comparable = (content: Json) => canonical(mapReferences(kind, content, () => ''));
  const take = (local: Local, isTaken: (remote: Remote) => boolean) => {
    const namesakes = free.get(kind.nameOf(local.content, refs)) ?? [];
    const at = namesakes.findIndex(isTaken);
    const [remote] = at < 0 || found.has(local.file) ? [] : namesakes.splice(at, 1);
    if (remote) found.set(local.file, remote);
  };
  for (const local of locals) {
    const text = comparable(local.content);
    take(local, ({ content }) => comparable(content) === text);
  }
  for (const local of locals) take(local, () => true);
  return found;
}

function differenceOf(
  kind: Kind,
  { file, local, remote, known }: Match,
  refs: ReadonlyMap<string, string>,
): Difference {
  const here = local && sideOf(kind, local.content, refs);
  const there = remote && { ...sideOf(kind, remote.content, refs), stored: remote };
  // Code that has not changed since stands for what the service has made of it.
  const isUnchanged = here !== undefined && known?.source?.digest === here.digest;
  const change = changeOf(isUnchanged ? known?.digest : here?.digest, there?.digest, known?.digest);
  return {
    ...{ kind, file, change },
    ...(here && { local: here }),
    ...(there && { remote: there }),
    ...(known && { base: known.digest }),
    ...(local?.source !== undefined && { source: local.source }),
  };
}

/** With what a file is in step now. */
export function inStepWith({ source, local }: Difference, id: string, digest: string): InStep {
  return { id, digest, ...(source !== undefined && local && { source: { file: source, digest: local.digest } }) };
}

/** Returns the content as files have it. */
export function sideOf(kind: Kind, content: Json, refs: ReadonlyMap<string, string>): Side {
  const named = mapReferences(kind, content, (id) => refs.get(id) ?? id);
  return { content: named, digest: digestOf(named) };
}

function changeOf(local: string | undefined, remote: string | undefined, base: string | undefined): Change {
  if (local === undefined) {
    if (base === undefined) return 'only there';
    return remote === base ? 'delete' : 'changed elsewhere';
  }
  if (remote === undefined) return base === undefined ? 'create' : 'deleted elsewhere';
  if (remote === local) return 'same';
  return remote === base ? 'update' : 'changed elsewhere';
}
